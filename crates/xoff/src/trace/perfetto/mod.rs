//! A trace for Perfetto's viewer. Each port has a track with its packets, and under it tracks with its queue, its pauses and
//! its times as a congestion root. Each flow has a track with its rates. Arrows follow each packet from hop to hop, and its
//! ACK back.

mod proto;
mod slices;
mod tracks;

use std::collections::HashMap;
use std::io::{self, Write};

use prost::Message;
use xoff_engine::Time;
use xoff_fabric::ids::{FlowId, NodeId};
use xoff_fabric::observe::rows::RateSample;
use xoff_fabric::packet::{Kind, NO_FLOW};
use xoff_fabric::topology::PortId;

use super::Trace;
use proto::{
    ChildTracksOrdering, CounterDescriptor, CounterUnit, DebugAnnotation, InternedData, InternedName,
    SEQ_INCREMENTAL_STATE_CLEARED, SEQ_NEEDS_INCREMENTAL_STATE, TracePacket, TrackDescriptor, TrackEvent,
    TrackEventType,
};
use slices::{ANNOTATIONS, annotations, arrow, kind_name};
use tracks::{Counter, Track};

/// Writes the trace of a run.
pub fn write(trace: &Trace, out: &mut impl Write) -> io::Result<()> {
    let mut writer = Writer { trace, out, buffer: Vec::new(), names: HashMap::new(), shown: Vec::new() };
    writer.begin()?;
    writer.nodes_and_ports()?;
    writer.flows()?;
    writer.packets()?;
    writer.pauses()?;
    writer.roots()?;
    writer.queues()?;
    writer.rates()
}

/// The name of a slice. The trace contains the text of each name once, and slices refer to it by number.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Name {
    Packet(Kind, FlowId),
    Pause,
    Root,
    Flow(FlowId),
}

struct Writer<'t, W> {
    trace: &'t Trace,
    out: W,
    buffer: Vec<u8>,
    names: HashMap<Name, u64>,
    /// Ports that have tracks, in order.
    shown: Vec<PortId>,
}

impl<W: Write> Writer<'_, W> {
    fn put(&mut self, packet: &TracePacket) -> io::Result<()> {
        self.buffer.clear();
        // A trace is a sequence of packets, each of them as field 1 with its length.
        self.buffer.push(1 << 3 | 2);
        packet.encode_length_delimited(&mut self.buffer).map_err(io::Error::other)?;
        self.out.write_all(&self.buffer)
    }

    fn begin(&mut self) -> io::Result<()> {
        let names = ANNOTATIONS.iter().zip(1..);
        let name = |(name, iid): (&&str, u64)| InternedName { iid: Some(iid), name: Some(name.to_string()) };
        let debug_annotation_names = names.map(name).collect();
        self.put(&TracePacket {
            trusted_packet_sequence_id: Some(1),
            sequence_flags: Some(SEQ_INCREMENTAL_STATE_CLEARED),
            interned_data: Some(InternedData { event_names: Vec::new(), debug_annotation_names }),
            ..TracePacket::default()
        })
    }

    fn describe(&mut self, descriptor: TrackDescriptor) -> io::Result<()> {
        self.put(&TracePacket {
            trusted_packet_sequence_id: Some(1),
            track_descriptor: Some(descriptor),
            ..TracePacket::default()
        })
    }

    fn track(
        &mut self,
        track: Track,
        parent: Option<Track>,
        name: String,
        rank: Option<i32>,
    ) -> io::Result<()> {
        self.describe(TrackDescriptor {
            uuid: Some(track.id()),
            name: Some(name),
            parent_uuid: parent.map(Track::id),
            counter: None,
            child_ordering: Some(ChildTracksOrdering::Explicit.into()),
            sibling_order_rank: rank,
        })
    }

    fn counter(
        &mut self,
        track: Track,
        parent: Track,
        name: &str,
        of: CounterDescriptor,
        rank: i32,
    ) -> io::Result<()> {
        self.describe(TrackDescriptor {
            uuid: Some(track.id()),
            name: Some(name.to_string()),
            parent_uuid: Some(parent.id()),
            counter: Some(of),
            child_ordering: None,
            sibling_order_rank: Some(rank),
        })
    }

    /// The number of a name, and its definition if the name is new.
    fn name(&mut self, name: Name) -> (u64, Option<InternedData>) {
        let next = self.names.len() as u64 + 1;
        let iid = *self.names.entry(name).or_insert(next);
        let new = (iid == next).then(|| {
            let text = match name {
                Name::Packet(kind, NO_FLOW) => kind_name(kind).to_string(),
                Name::Packet(kind, flow) => format!("{} of flow {flow}", kind_name(kind)),
                Name::Pause => "paused".to_string(),
                Name::Root => "congestion root".to_string(),
                Name::Flow(flow) => format!("flow {flow}"),
            };
            let name = InternedName { iid: Some(iid), name: Some(text) };
            InternedData { event_names: vec![name], debug_annotation_names: Vec::new() }
        });
        (iid, new)
    }

    fn event(&mut self, at: Time, event: TrackEvent, new: Option<InternedData>) -> io::Result<()> {
        self.put(&TracePacket {
            timestamp: Some(at.ps() / 1000),
            trusted_packet_sequence_id: Some(1),
            sequence_flags: Some(SEQ_NEEDS_INCREMENTAL_STATE),
            track_event: Some(event),
            interned_data: new,
            track_descriptor: None,
        })
    }

    fn slice(
        &mut self,
        track: Track,
        name: Name,
        (from, to): (Time, Time),
        debug_annotations: Vec<DebugAnnotation>,
        flow_ids: Vec<u64>,
    ) -> io::Result<()> {
        let track_uuid = Some(track.id());
        let (iid, new) = self.name(name);
        let begin = TrackEvent {
            r#type: Some(TrackEventType::SliceBegin.into()),
            name_iid: Some(iid),
            track_uuid,
            debug_annotations,
            flow_ids,
            ..TrackEvent::default()
        };
        self.event(from, begin, new)?;
        let end =
            TrackEvent { r#type: Some(TrackEventType::SliceEnd.into()), track_uuid, ..TrackEvent::default() };
        self.event(to, end, None)
    }

    fn nodes_and_ports(&mut self) -> io::Result<()> {
        let (net, records) = (self.trace.net.clone(), &self.trace.records);
        // Ports without any record have no tracks.
        let mut ports: Vec<PortId> = records.packets.rows().iter().map(|row| row.port).collect();
        ports.extend(records.samples.queues.iter().filter(|q| q.max_bytes > 0).map(|q| q.port));
        ports.extend(records.pauses.iter().map(|p| p.port));
        ports.extend(records.roots.iter().map(|r| r.port));
        ports.sort_unstable();
        ports.dedup();
        let mut stopped: Vec<(PortId, u8)> = records.pauses.iter().map(|p| (p.port, p.priority)).collect();
        let mut roots: Vec<(PortId, u8)> = records.roots.iter().map(|r| (r.port, r.priority)).collect();
        for list in [&mut stopped, &mut roots] {
            list.sort_unstable();
            list.dedup();
        }
        let mut nodes: Vec<NodeId> = ports.iter().map(|&p| net.topology.node_of(p)).collect();
        nodes.sort_unstable();
        nodes.dedup();
        for (rank, &node) in nodes.iter().enumerate() {
            let name = net.topology.nodes[node.index()].name.clone();
            self.track(Track::Node(node), None, name, Some(rank as i32))?;
        }
        self.shown.extend(&ports);
        for &port in &ports {
            let node = Track::Node(net.topology.node_of(port));
            self.track(Track::Port(port), Some(node), net.topology.port_name(port), Some(port.0 as i32))?;
            let bytes = CounterDescriptor { unit: Some(CounterUnit::SizeBytes.into()), ..Default::default() };
            self.counter(Track::Queue(port), Track::Port(port), "queue", bytes, 0)?;
        }
        for (port, priority) in stopped {
            let name = format!("PAUSE, priority {priority}");
            self.track(Track::Pause(port, priority), Some(Track::Port(port)), name, Some(1))?;
        }
        for (port, priority) in roots {
            let name = format!("congestion root, priority {priority}");
            self.track(Track::Root(port, priority), Some(Track::Port(port)), name, Some(2))?;
        }
        Ok(())
    }

    /// Writes a slice for each flow from its start to its end, each in a track of its own.
    fn flows(&mut self) -> io::Result<()> {
        let (trace, end) = (self.trace, self.trace.end);
        let nodes = &trace.net.topology.nodes;
        self.track(Track::Flows, None, "flows".to_string(), Some(i32::MAX))?;
        let flows = FlowId::all(trace.net.flows.len()).zip(trace.records.flows.iter());
        for (flow, outcome) in flows.filter(|(_, outcome)| outcome.started) {
            let of = trace.net.flows.of(flow);
            let ends = format!("{} to {}", nodes[of.src.index()].name, nodes[of.dst.index()].name);
            let name = format!("flow {flow}: {ends}");
            self.track(Track::Flow(flow), Some(Track::Flows), name, Some(flow.0 as i32))?;
            let until = outcome.fct.map_or(end, |fct| outcome.start + fct);
            self.slice(Track::Flow(flow), Name::Flow(flow), (outcome.start, until), Vec::new(), Vec::new())?;
        }
        Ok(())
    }

    /// Writes a slice for each packet that leaves by a port, from its first bit to its last.
    fn packets(&mut self) -> io::Result<()> {
        let trace = self.trace;
        for row in trace.records.packets.rows().iter().filter(|row| !row.inbound) {
            let sent = row.time + trace.net.topology.rate(row.port).serialization(row.size.into());
            let name = Name::Packet(row.kind, row.flow);
            let arrows = arrow(row).into_iter().collect();
            self.slice(Track::Port(row.port), name, (row.time, sent), annotations(row), arrows)?;
        }
        Ok(())
    }

    fn pauses(&mut self) -> io::Result<()> {
        let trace = self.trace;
        for row in &trace.records.pauses {
            let track = Track::Pause(row.port, row.priority);
            self.slice(track, Name::Pause, (row.start, row.end), Vec::new(), Vec::new())?;
        }
        Ok(())
    }

    fn roots(&mut self) -> io::Result<()> {
        let trace = self.trace;
        for row in &trace.records.roots {
            let track = Track::Root(row.port, row.priority);
            self.slice(track, Name::Root, (row.start, row.end), Vec::new(), Vec::new())?;
        }
        Ok(())
    }

    fn count(&mut self, track: Track, at: Time, value: Value) -> io::Result<()> {
        let (whole, real) = match value {
            Value::Bytes(bytes) => (Some(bytes as i64), None),
            Value::BitsPerSecond(rate) => (None, Some(rate)),
        };
        let event = TrackEvent {
            r#type: Some(TrackEventType::Counter.into()),
            track_uuid: Some(track.id()),
            counter_value: whole,
            double_counter_value: real,
            ..TrackEvent::default()
        };
        self.event(at, event, None)
    }

    fn queues(&mut self) -> io::Result<()> {
        let trace = self.trace;
        for row in &trace.records.samples.queues {
            if self.shown.binary_search(&row.port).is_err() {
                continue;
            }
            self.count(Track::Queue(row.port), row.time, Value::Bytes(row.bytes))?;
        }
        Ok(())
    }

    fn rates(&mut self) -> io::Result<()> {
        let rows = &self.trace.records.samples.rates;
        // The sort is stable: the samples of each flow stay in the order of time.
        let mut by_flow: Vec<&RateSample> = rows.iter().collect();
        by_flow.sort_by_key(|row| row.flow);
        for rows in by_flow.chunk_by(|a, b| a.flow == b.flow) {
            for counter in Counter::ALL {
                self.rates_of(rows, counter)?;
            }
        }
        Ok(())
    }

    /// Writes one counter of a flow, unless it has no values: a scheme need not limit the rate or the window.
    fn rates_of(&mut self, rows: &[&RateSample], counter: Counter) -> io::Result<()> {
        let value = |row: &RateSample| match counter {
            Counter::Sent => Some(Value::BitsPerSecond(row.sent_bps)),
            Counter::Goodput => Some(Value::BitsPerSecond(row.goodput_bps)),
            Counter::Rate => {
                (row.rate.bps() < u64::MAX).then_some(Value::BitsPerSecond(row.rate.bps() as f64))
            }
            Counter::Window => (row.window < u64::MAX).then_some(Value::Bytes(row.window)),
        };
        let Some(first) = rows.first().filter(|_| rows.iter().any(|row| value(row).is_some())) else {
            return Ok(());
        };
        let (flow, rank) = (first.flow, counter as i32);
        let track = Track::FlowCounter(flow, counter);
        let of = match counter {
            Counter::Window => {
                CounterDescriptor { unit: Some(CounterUnit::SizeBytes.into()), unit_name: None }
            }
            _ => CounterDescriptor { unit: None, unit_name: Some("bit/s".to_string()) },
        };
        self.counter(track, Track::Flow(flow), counter.name(), of, rank)?;
        let over_interval = matches!(counter, Counter::Sent | Counter::Goodput);
        for row in rows {
            // A mean applies from the beginning of its interval; a value sampled at the end applies from then on.
            let at = if over_interval { row.time - row.interval } else { row.time };
            if let Some(value) = value(row) {
                self.count(track, at, value)?;
            }
        }
        if let Some(last) = rows.last().filter(|_| over_interval) {
            self.count(track, last.time, Value::BitsPerSecond(0.0))?;
        }
        Ok(())
    }
}

/// A counter's value.
enum Value {
    Bytes(u64),
    BitsPerSecond(f64),
}
