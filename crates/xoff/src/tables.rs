//! Result tables as Arrow record batches, each column with its meaning.

mod breakdown;
mod room;

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::builder::{ListBuilder, UInt64Builder};
use arrow_array::types::Int32Type;
use arrow_array::{
    ArrayRef, BooleanArray, DictionaryArray, Float64Array, Int32Array, RecordBatch, StringArray, UInt8Array,
    UInt32Array, UInt64Array,
};
use arrow_schema::{DataType, Field, Schema};
use xoff_engine::Time;
use xoff_fabric::observe::capture::PacketRecord;
use xoff_fabric::packet::{HAS_RATE, Kind};
use xoff_fabric::topology::{PortId, peer};
use xoff_fabric::{Network, Simulation};
use xoff_schemes::ThrottleState;
use xoff_schemes::{Mark, PortState};
use xoff_traffic::Traffic;

/// A result table.
pub struct Table {
    /// Its name: that of its file.
    pub name: &'static str,
    /// Its columns.
    pub batch: RecordBatch,
}

impl Table {
    /// Each column's name and meaning.
    pub fn columns(&self) -> impl Iterator<Item = (&str, &str)> {
        let fields = self.batch.schema_ref().fields().iter();
        fields.map(|f| (f.name().as_str(), f.metadata().get("doc").map_or("", String::as_str)))
    }
}

/// The unit that a column's name states; none for counts, names and ratios.
fn unit_of(column: &str) -> Option<&'static str> {
    match column.rsplit('_').next() {
        Some("ps") => Some("ps"),
        Some("bytes") => Some("B"),
        Some("bps") => Some("bit/s"),
        _ => None,
    }
}

/// A table being made.
struct Columns(Vec<(Field, ArrayRef)>);

impl Columns {
    fn new() -> Self {
        Columns(Vec::new())
    }
    fn add(self, name: &str, doc: &str, array: ArrayRef) -> Self {
        self.column(name, doc, array, false)
    }
    fn column(mut self, name: &str, doc: &str, array: ArrayRef, nullable: bool) -> Self {
        let field = Field::new(name, array.data_type().clone(), nullable);
        let mut metadata = HashMap::from([("doc".to_string(), doc.to_string())]);
        metadata.extend(unit_of(name).map(|unit| ("unit".to_string(), unit.to_string())));
        self.0.push((field.with_metadata(metadata), array));
        self
    }
    fn u64(self, name: &str, doc: &str, values: impl Iterator<Item = u64>) -> Self {
        self.add(name, doc, Arc::new(values.collect::<UInt64Array>()))
    }
    fn u64_or_null(self, name: &str, doc: &str, values: impl Iterator<Item = Option<u64>>) -> Self {
        self.column(name, doc, Arc::new(values.collect::<UInt64Array>()), true)
    }
    fn u32(self, name: &str, doc: &str, values: impl Iterator<Item = u32>) -> Self {
        self.add(name, doc, Arc::new(values.collect::<UInt32Array>()))
    }
    fn u8(self, name: &str, doc: &str, values: impl Iterator<Item = u8>) -> Self {
        self.add(name, doc, Arc::new(values.collect::<UInt8Array>()))
    }
    fn f64(self, name: &str, doc: &str, values: impl Iterator<Item = f64>) -> Self {
        self.add(name, doc, Arc::new(Float64Array::from_iter_values(values)))
    }
    fn f64_or_null(self, name: &str, doc: &str, values: impl Iterator<Item = Option<f64>>) -> Self {
        self.column(name, doc, Arc::new(values.collect::<Float64Array>()), true)
    }
    fn bool_or_null(self, name: &str, doc: &str, values: impl Iterator<Item = Option<bool>>) -> Self {
        self.column(name, doc, Arc::new(values.collect::<BooleanArray>()), true)
    }
    /// Names as a dictionary: each row an index into `names`.
    fn names(self, name: &str, doc: &str, rows: impl Iterator<Item = u32>, names: &Arc<StringArray>) -> Self {
        let keys = Int32Array::from_iter_values(rows.map(|k| k as i32));
        // Every key is an index of the names that it was made for.
        let array = DictionaryArray::<Int32Type>::new(keys, names.clone());
        self.add(name, doc, Arc::new(array))
    }
    /// The same where a row may have none.
    fn names_or_null(
        self,
        name: &str,
        doc: &str,
        rows: impl Iterator<Item = Option<u16>>,
        names: &Arc<StringArray>,
    ) -> Self {
        let keys: Int32Array = rows.map(|k| k.map(i32::from)).collect();
        let array = DictionaryArray::<Int32Type>::new(keys, names.clone());
        self.column(name, doc, Arc::new(array), true)
    }
    fn table(self, name: &'static str) -> Table {
        let (fields, arrays): (Vec<Field>, Vec<ArrayRef>) = self.0.into_iter().unzip();
        let batch = RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays);
        // What could be refused: columns of different lengths, but each is made from the rows of its table; a type other
        // than its field's, but the field is made from the array; a null where there is none, but only the builders
        // that allow it make nulls.
        Table {
            name,
            batch: batch.expect("fields are their arrays', and all columns have the rows of their table"),
        }
    }
}

fn strings(items: impl Iterator<Item = String>) -> Arc<StringArray> {
    Arc::new(StringArray::from_iter_values(items))
}

/// All tables of a run, empty ones included.
pub fn all(sim: &Simulation, traffic: &Traffic) -> Vec<Table> {
    let names = Names::new(sim.network());
    vec![
        flows(sim, traffic, &names),
        ports(sim, &names),
        queues(sim, &names),
        rates(sim),
        utilization(sim, &names),
        pauses(sim, &names),
        roots(sim, &names),
        notifications(sim),
        marks(sim, &names),
        states(sim, &names),
        operations(sim, traffic, &names),
        throttles(sim, &names),
        breakdown::breakdown(sim, &names),
        packets(sim, &names),
    ]
}

/// Names of nodes and ports, shared by the tables.
struct Names {
    nodes: Arc<StringArray>,
    ports: Arc<StringArray>,
}

impl Names {
    fn new(net: &Network) -> Self {
        Names {
            nodes: strings(net.topology.nodes.iter().map(|n| n.name.clone())),
            ports: strings(net.topology.port_names().into_iter()),
        }
    }
}

fn flows(sim: &Simulation, traffic: &Traffic, names: &Names) -> Table {
    let (net, outcomes) = (sim.network(), &sim.records().flows);
    // Flows that had not started are not rows.
    let rows: Vec<usize> = (0..net.flows.len()).filter(|&i| outcomes[i].started).collect();
    let outcome =
        |f: fn(&xoff_fabric::observe::records::FlowOutcome) -> u64| rows.iter().map(move |&i| f(&outcomes[i]));
    // A flow that was stopped early has no ideal to compare with.
    let whole = |i: usize| outcomes[i].fct.is_none() || net.flows[i].size == Some(outcomes[i].acked_bytes);
    let ideal = rows.iter().map(|&i| net.ideal_fct(i as u32).filter(|_| whole(i)));
    let ideal: Vec<Option<Time>> = ideal.collect();
    let slowdown = rows.iter().zip(&ideal).map(|(&i, ideal)| {
        let (fct, ideal) = (outcomes[i].fct?, (*ideal)?);
        Some(fct.ps() as f64 / ideal.ps() as f64)
    });
    let (path_of, paths) = path_names(net, &rows);
    let labels = strings(traffic.labels.iter().cloned());
    let role = |i: usize| traffic.flows[i].role;
    Columns::new()
        .u32("id", "flow number, by start as the traffic asks for it", rows.iter().map(|&i| i as u32))
        .names(
            "label",
            "its traffic pattern",
            rows.iter().map(|&i| u32::from(traffic.flows[i].label)),
            &labels,
        )
        .names("src", "sending host", rows.iter().map(|&i| net.flows[i].src), &names.nodes)
        .names("dst", "receiving host", rows.iter().map(|&i| net.flows[i].dst), &names.nodes)
        .u8("priority", "data priority", rows.iter().map(|&i| net.flows[i].priority))
        .u64_or_null("size_bytes", "payload; null: endless", rows.iter().map(|&i| net.flows[i].size))
        .u64("start_ps", "start, ps", outcome(|o| o.start.ps()))
        .u64_or_null(
            "fct_ps",
            "completion time, from the start to the last ACK at the sender, ps; null: incomplete",
            rows.iter().map(|&i| outcomes[i].fct.map(Time::ps)),
        )
        .u64_or_null(
            "ideal_fct_ps",
            "completion time alone in the network at line rate without telemetry, ps; null: endless or stopped early",
            ideal.iter().map(|t| t.map(Time::ps)),
        )
        .f64_or_null("slowdown", "fct_ps over ideal_fct_ps", slowdown)
        .names("path", "nodes that its data passes", path_of.into_iter(), &paths)
        .u64("acked_bytes", "payload acknowledged, B", outcome(|o| o.acked_bytes))
        .u64("packets_sent", "data packets sent", outcome(|o| o.packets_sent))
        .u64("retransmitted_bytes", "payload sent again, B", outcome(|o| o.retransmitted_bytes))
        .u64("marked_ce", "data packets that arrived marked CE", outcome(|o| o.marks.ce))
        .u64("marked_ue", "data packets that arrived marked UE (undetermined)", outcome(|o| o.marks.ue))
        .u64("cnps", "congestion notification packets that reached the sender", outcome(|o| o.cnps))
        .u64(
            "paused_ps",
            "time for which PFC stopped the sender's port and priority while the flow was active, ps",
            outcome(|o| o.paused.ps()),
        )
        .bool_or_null(
            "hol_blocked",
            "a packet of it waited behind a PAUSE, and none of its hops was a congestion root in that time; null: not \
             recorded",
            rows.iter().map(|&i| sim.records().watches_roots().then_some(outcomes[i].hol_blocked)),
        )
        .names_or_null(
            "kernel",
            "what its sender was doing, in a closed loop; null: a flow of no such loop",
            rows.iter().map(|&i| role(i).map(|r| r.kernel)),
            &strings(traffic.kernels.iter().cloned()),
        )
        .u64_or_null(
            "process",
            "the process that sent it, among those of its pattern; null: of no closed loop",
            rows.iter().map(|&i| role(i).map(|r| r.process.into())),
        )
        .u64_or_null(
            "iteration",
            "which iteration of its kernel, from 0; null: of no closed loop",
            rows.iter().map(|&i| role(i).map(|r| r.iteration.into())),
        )
        .table("flows")
}

/// The distinct paths of flows as text, and which of them each row has.
fn path_names(net: &Network, rows: &[usize]) -> (Vec<u32>, Arc<StringArray>) {
    let mut known: HashMap<&[PortId], u32> = HashMap::new();
    let mut texts: Vec<String> = Vec::new();
    let topology = &net.topology;
    let name = |node: u32| topology.nodes[node as usize].name.as_str();
    let rows = rows.iter().map(|&i| {
        let path = net.data_path(i as u32);
        *known.entry(path).or_insert_with(|| {
            let mut text = name(net.flows[i].src).to_string();
            for &port in path {
                text.push('>');
                text.push_str(name(topology.node_of(peer(port))));
            }
            texts.push(text);
            texts.len() as u32 - 1
        })
    });
    let rows = rows.collect();
    (rows, strings(texts.into_iter()))
}

fn ports(sim: &Simulation, names: &Names) -> Table {
    let (net, records) = (sim.network(), sim.records());
    let topology = &net.topology;
    let all = 0..topology.ports();
    let seconds = sim.now().secs();
    let priorities = net.settings.switch.priorities;
    let paused = |p: PortId| (0..priorities).map(|q| sim.paused(p, q).ps()).sum();
    let utilization = |p: PortId| {
        let bits = sim.port(p).sent_by(sim.now()) as f64 * 8.0;
        if seconds > 0.0 { bits / (sim.port(p).rate.bps() as f64 * seconds) } else { 0.0 }
    };
    let columns = Columns::new()
        .names("port", "egress port: node->neighbour", all.clone(), &names.ports)
        .names("node", "its node", all.clone().map(|p| topology.node_of(p)), &names.nodes)
        .names("peer", "the neighbour", all.clone().map(|p| topology.node_of(peer(p))), &names.nodes)
        .u64("rate_bps", "line rate, bit/s", all.clone().map(|p| topology.rate(p).bps()))
        .u64("tx_bytes", "bytes sent", all.clone().map(|p| sim.port(p).tx_bytes))
        .u64("tx_packets", "packets sent, of any kind", all.clone().map(|p| sim.port(p).tx_packets))
        .f64("utilization", "share of the run in which it sent", all.clone().map(utilization))
        .u64("max_queue_bytes", "most bytes queued", all.clone().map(|p| sim.port(p).max_queued_bytes))
        .u64(
            "pause_frames_sent",
            "PAUSE frames sent by this port, to stop its neighbour",
            all.clone().map(|p| records.pause_frames[p as usize]),
        )
        .u64(
            "credit_updates_sent",
            "updates of credits (CBFC) sent by this port, to its neighbour",
            all.clone().map(|p| records.credit_updates[p as usize]),
        )
        .u64("paused_ps", "time for which it was stopped, all priorities, ps", all.clone().map(paused))
        .u64("marked_ce", "data packets marked CE", all.clone().map(|p| records.marks_at[p as usize].ce))
        .u64(
            "marked_ue",
            "data packets marked UE (undetermined)",
            all.clone().map(|p| records.marks_at[p as usize].ue),
        )
        .u64("dropped", "packets dropped that came in by this port", all.map(|p| records.drops[p as usize]));
    room::add(columns, sim).table("ports")
}

fn queues(sim: &Simulation, names: &Names) -> Table {
    let rows = &sim.records().queues;
    Columns::new()
        .u64("time_ps", "end of the interval, ps", rows.iter().map(|r| r.time.ps()))
        .names("port", "egress port", rows.iter().map(|r| r.port), &names.ports)
        .u64(
            "bytes",
            "bytes queued at that moment, without the frame on the wire",
            rows.iter().map(|r| r.bytes),
        )
        .u64("max_bytes", "most bytes queued in the interval", rows.iter().map(|r| r.max_bytes))
        .table("queues")
}

fn rates(sim: &Simulation) -> Table {
    let rows = &sim.records().rates;
    let window = |w: u64| (w != u64::MAX).then_some(w);
    Columns::new()
        .u64("time_ps", "end of the interval, ps", rows.iter().map(|r| r.time.ps()))
        .u64(
            "interval_ps",
            "length of the interval, ps: shorter than `record.interval` where the flow or the run began or ended in it",
            rows.iter().map(|r| r.interval.ps()),
        )
        .u32("flow", "flow id", rows.iter().map(|r| r.flow))
        .f64("sent_bps", "frame bits that the sender began to send, bit/s", rows.iter().map(|r| r.sent_bps))
        .f64("goodput_bps", "payload acknowledged, bit/s", rows.iter().map(|r| r.goodput_bps))
        .f64("rate_bps", "the scheme's rate, bit/s", rows.iter().map(|r| r.rate.bps() as f64))
        .u64_or_null(
            "window_bytes",
            "the scheme's window, B; null: none",
            rows.iter().map(|r| window(r.window)),
        )
        .table("rates")
}

fn utilization(sim: &Simulation, names: &Names) -> Table {
    let rows = &sim.records().utilization;
    let share = |r: &xoff_fabric::observe::records::UtilizationSample| r.tx_bps / sim.port(r.port).rate.bps() as f64;
    Columns::new()
        .u64("time_ps", "end of the interval, ps", rows.iter().map(|r| r.time.ps()))
        .names("port", "egress port", rows.iter().map(|r| r.port), &names.ports)
        .f64("tx_bps", "bits sent, bit/s", rows.iter().map(|r| r.tx_bps))
        .f64("utilization", "tx_bps over the line rate", rows.iter().map(share))
        .table("utilization")
}

fn pauses(sim: &Simulation, names: &Names) -> Table {
    let rows = &sim.records().pauses;
    Columns::new()
        .names("port", "egress port that was stopped", rows.iter().map(|r| r.port), &names.ports)
        .names("by", "port that sent the PAUSE", rows.iter().map(|r| peer(r.port)), &names.ports)
        .u8("priority", "priority that was stopped", rows.iter().map(|r| r.priority))
        .u64("start_ps", "since when, ps", rows.iter().map(|r| r.start.ps()))
        .u64("length_ps", "for how long, ps", rows.iter().map(|r| (r.end - r.start).ps()))
        .u32("frames", "PAUSE frames that made it", rows.iter().map(|r| r.frames))
        .table("pauses")
}

fn roots(sim: &Simulation, names: &Names) -> Table {
    let rows = &sim.records().roots;
    Columns::new()
        .names("port", "egress port whose queue grew at full rate", rows.iter().map(|r| r.port), &names.ports)
        .u8("priority", "its priority", rows.iter().map(|r| r.priority))
        .u64("start_ps", "since when, ps", rows.iter().map(|r| r.start.ps()))
        .u64("length_ps", "for how long, ps", rows.iter().map(|r| (r.end - r.start).ps()))
        .u64("max_bytes", "most bytes queued in that time", rows.iter().map(|r| r.max_bytes))
        .table("roots")
}

fn notifications(sim: &Simulation) -> Table {
    let rows = &sim.records().notifications;
    let kinds = strings(["cnp", "cnm"].into_iter().map(String::from));
    let kind = |k: Kind| u32::from(k == Kind::Cnm);
    Columns::new()
        .u64("time_ps", "arrival at the sender, ps", rows.iter().map(|r| r.time.ps()))
        .names(
            "kind",
            "cnp (from a receiver) or cnm (from a switch)",
            rows.iter().map(|r| kind(r.kind)),
            &kinds,
        )
        .u32("flow", "flow id", rows.iter().map(|r| r.flow))
        .u64_or_null("point", "congestion point of a cnm", rows.iter().map(|r| r.point.map(u64::from)))
        .table("notifications")
}

fn marks(sim: &Simulation, names: &Names) -> Table {
    let rows = &sim.records().marks;
    let marks = strings(["ce", "ue"].into_iter().map(String::from));
    Columns::new()
        .u64("time_ps", "when the packet left its queue, ps", rows.iter().map(|r| r.time.ps()))
        .names("port", "egress port that marked it", rows.iter().map(|r| r.port), &names.ports)
        .u32("flow", "flow id", rows.iter().map(|r| r.flow))
        .u64("offset_bytes", "offset of its first payload byte in the flow, B", rows.iter().map(|r| r.seq))
        .names(
            "mark",
            "ce (congestion) or ue (undetermined)",
            rows.iter().map(|r| u32::from(r.mark == Mark::Ue)),
            &marks,
        )
        .table("marks")
}

fn throttles(sim: &Simulation, names: &Names) -> Table {
    let rows = &sim.records().throttles;
    let states = [ThrottleState::Normal, ThrottleState::Congested];
    let states = strings(states.iter().map(|s| s.name().to_string()));
    Columns::new()
        .u64(
            "time_ps",
            "since when, ps; before its first row a throttle is normal",
            rows.iter().map(|r| r.time.ps()),
        )
        .names("port", "port of the host", rows.iter().map(|r| r.port), &names.ports)
        .names(
            "state",
            "what the throttle takes the network for: normal or congested",
            rows.iter().map(|r| r.state as u32),
            &states,
        )
        .table("throttles")
}

fn packets(sim: &Simulation, names: &Names) -> Table {
    let packets = &sim.records().packets;
    let rows = packets.rows();
    let of = |kinds: &'static [Kind], value: fn(&PacketRecord) -> u64| {
        rows.iter().map(move |r| kinds.contains(&r.kind).then(|| value(r)))
    };
    let rate = |r: &PacketRecord| r.kind == Kind::Cnm || (r.kind == Kind::Cnp && r.flags & HAS_RATE != 0);
    let mark = |r: &PacketRecord| match r.mark {
        Mark::None => None,
        Mark::Ce => Some(0),
        Mark::Ue => Some(1),
    };
    // Parquet's own name for what a list has.
    let element = Arc::new(Field::new("element", DataType::UInt64, true));
    let mut int = ListBuilder::new(UInt64Builder::new()).with_field(element);
    for row in rows {
        int.values().append_slice(packets.int(row));
        int.append(true);
    }
    Columns::new()
        .u64(
            "time_ps",
            "out: when its first bit goes onto the wire; in: when its last bit has come, or its header where switches cut \
             through; ps",
            rows.iter().map(|r| r.time.ps()),
        )
        .names("port", "the port", rows.iter().map(|r| r.port), &names.ports)
        .names(
            "direction",
            "out or in",
            rows.iter().map(|r| u32::from(r.inbound)),
            &strings(["out", "in"].into_iter().map(String::from)),
        )
        .names(
            "kind",
            "data, ack, nack, cnp (from a receiver), cnm (from a switch), pfc, or credits (an update of them)",
            rows.iter().map(|r| r.kind as u32),
            &strings(["data", "ack", "nack", "cnp", "cnm", "pfc", "credits"].into_iter().map(String::from)),
        )
        .u64_or_null(
            "flow",
            "flow id; null: of flow control",
            rows.iter().map(|r| (r.flow != u32::MAX).then_some(r.flow.into())),
        )
        .u64_or_null(
            "priority",
            "data priority, or the one that flow control concerns; null: a control packet, before all data",
            rows.iter().map(|r| r.priority().map(u64::from)),
        )
        .u64_or_null(
            "offset_bytes",
            "data: offset of its first payload byte in the flow; ack, nack: all before it has arrived",
            of(&[Kind::Data, Kind::Ack, Kind::Nack], |r| r.seq),
        )
        .u64("size_bytes", "bytes on the wire", rows.iter().map(|r| r.size.into()))
        .u64("payload_bytes", "payload of data", rows.iter().map(|r| r.payload.into()))
        .u64("sent_ps", "when the packet, or the one that it acknowledges, was sent first, ps", rows.iter().map(|r| r.sent_at.ps()))
        .names_or_null(
            "mark",
            "ce or ue, on data, or as an ack or cnp brings it back; null: not marked",
            rows.iter().map(mark),
            &strings(["ce", "ue"].into_iter().map(String::from)),
        )
        .u64_or_null("rate_bps", "the rate that a cnp or cnm carries, bit/s", rows.iter().map(|r| rate(r).then_some(r.seq)))
        .u64_or_null("quanta", "pause time of a pfc frame in quanta of 512 bits; 0: resume", of(&[Kind::Pfc], |r| r.seq))
        .add(
            "int",
            "telemetry that it carries, a number a hop in the order of stamping: 4 bit rate, 24 bit ns, 20 bit bytes sent / 128, \
             16 bit bytes queued / 80",
            Arc::new(int.finish()),
        )
        .table("packets")
}

fn states(sim: &Simulation, names: &Names) -> Table {
    let rows = &sim.records().states;
    let states = strings(PortState::ALL.iter().map(|s| s.name().to_string()));
    Columns::new()
        .u64("time_ps", "since when, as a packet leaves; the first row of each queue is at 0, ps", rows.iter().map(|r| r.time.ps()))
        .names("port", "egress port", rows.iter().map(|r| r.port), &names.ports)
        .u8("priority", "data priority", rows.iter().map(|r| r.priority))
        .names(
            "state",
            "non_congestion, congestion, undetermined (stopped within max(T_on)), or released (undetermined before, and \
             watched until it is one of the first two)",
            rows.iter().map(|r| r.state as u32),
            &states,
        )
        .table("states")
}

fn operations(sim: &Simulation, traffic: &Traffic, names: &Names) -> Table {
    let (steps, now) = (&sim.records().steps, sim.now());
    let at = |step: u32| steps.get(step as usize).copied().unwrap_or(Time::NEVER);
    let rows: Vec<_> = traffic.operations.iter().filter(|o| at(o.begin) <= now).collect();
    let hosts = sim.network().topology.hosts();
    Columns::new()
        .names(
            "label",
            "its traffic pattern",
            rows.iter().map(|o| u32::from(o.label)),
            &strings(traffic.labels.iter().cloned()),
        )
        .names(
            "kernel",
            "what the process did",
            rows.iter().map(|o| u32::from(o.role.kernel)),
            &strings(traffic.kernels.iter().cloned()),
        )
        .u32("process", "the process, among those of its pattern", rows.iter().map(|o| o.role.process))
        .names("host", "its host", rows.iter().map(|o| hosts[o.host as usize]), &names.nodes)
        .u32("ring", "random ring of GPCNeT's tests, from 0", rows.iter().map(|o| o.ring))
        .u32("iteration", "iteration, from 0", rows.iter().map(|o| o.role.iteration))
        .u64("bytes", "payload that the process sends in it, without barriers", rows.iter().map(|o| o.bytes))
        .u64("start_ps", "when the process began it, ps", rows.iter().map(|o| at(o.begin).ps()))
        .u64_or_null(
            "end_ps",
            "when all that it waited for had come and its overhead was over, ps; null: something had not come when the run ended",
            rows.iter().map(|o| Some(at(o.end)).filter(|end| *end < Time::NEVER).map(Time::ps)),
        )
        .table("operations")
}
