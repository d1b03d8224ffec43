//! Writes execution traces in Chakra's format, byte by byte, for tests.

use std::collections::BTreeMap;
use std::io::{self, Cursor, Read};

use xoff_traffic::FileSource;

fn varint(mut value: u64, out: &mut Vec<u8>) {
    while value > 127 {
        out.push(value as u8 | 128);
        value >>= 7;
    }
    out.push(value as u8);
}

fn bytes(number: u64, value: &[u8], out: &mut Vec<u8>) {
    varint(number << 3 | 2, out);
    varint(value.len() as u64, out);
    out.extend(value);
}

fn integer(number: u64, value: u64, out: &mut Vec<u8>) {
    varint(number << 3, out);
    varint(value, out);
}

/// A node, written field by field.
#[derive(Clone, Default)]
pub struct Node(Vec<u8>);

impl Node {
    /// A node of a type of the schema.
    pub fn new(id: u64, name: &str, kind: u64) -> Node {
        let mut node = Node::default();
        integer(1, id, &mut node.0);
        bytes(2, name.as_bytes(), &mut node.0);
        integer(3, kind, &mut node.0);
        node
    }
    /// Waits for these nodes by data dependencies, in the packed form.
    pub fn data(mut self, on: &[u64]) -> Node {
        let mut packed = Vec::new();
        on.iter().for_each(|&id| varint(id, &mut packed));
        bytes(5, &packed, &mut self.0);
        self
    }
    /// Waits for a node by a control dependency, in the form that is not packed.
    pub fn control(mut self, on: u64) -> Node {
        integer(4, on, &mut self.0);
        self
    }
    pub fn micros(mut self, duration: u64) -> Node {
        integer(7, duration, &mut self.0);
        self
    }
    pub fn inputs(mut self, values: &str) -> Node {
        let mut info = Vec::new();
        bytes(1, values.as_bytes(), &mut info);
        bytes(8, &info, &mut self.0);
        self
    }
    /// An attribute whose value is a varint in this field: 7 int32, 9 int64, 11 uint32, 13 uint64, 27 bool.
    pub fn int(mut self, name: &str, field: u64, value: u64) -> Node {
        let mut attribute = Vec::new();
        bytes(1, name.as_bytes(), &mut attribute);
        integer(field, value, &mut attribute);
        bytes(10, &attribute, &mut self.0);
        self
    }
    pub fn text(mut self, name: &str, value: &str) -> Node {
        let mut attribute = Vec::new();
        bytes(1, name.as_bytes(), &mut attribute);
        bytes(29, value.as_bytes(), &mut attribute);
        bytes(10, &attribute, &mut self.0);
        self
    }
    /// A field that no schema has.
    pub fn unknown(mut self) -> Node {
        bytes(99, b"from the future", &mut self.0);
        self
    }
}

pub fn compute(id: u64, micros: u64) -> Node {
    Node::new(id, &format!("comp{id}"), 4).micros(micros)
}

pub fn send(id: u64, to: u64, size: u64, tag: u64) -> Node {
    Node::new(id, "to", 5).int("comm_size", 9, size).int("comm_dst", 7, to).int("comm_tag", 7, tag)
}

pub fn receive(id: u64, from: u64, size: u64, tag: u64) -> Node {
    Node::new(id, "from", 6).int("comm_size", 9, size).int("comm_src", 7, from).int("comm_tag", 7, tag)
}

pub fn collective(id: u64, kind: u64, size: u64) -> Node {
    Node::new(id, "coll", 7).int("comm_type", 9, kind).int("comm_size", 9, size)
}

/// The bytes of a rank's file.
pub fn file(nodes: &[Node]) -> Vec<u8> {
    let mut metadata = Vec::new();
    bytes(1, b"0.0.4", &mut metadata);
    let mut out = Vec::new();
    for message in std::iter::once(&metadata).chain(nodes.iter().map(|n| &n.0)) {
        varint(message.len() as u64, &mut out);
        out.extend(message);
    }
    out
}

/// Files by name.
#[derive(Clone, Default)]
pub struct Folder(pub BTreeMap<String, Vec<u8>>);

impl Folder {
    /// The files `t.0.et`, `t.1.et` and so on.
    pub fn of(ranks: &[Vec<Node>]) -> Folder {
        Folder(ranks.iter().enumerate().map(|(rank, nodes)| (format!("t.{rank}.et"), file(nodes))).collect())
    }
}

impl FileSource for Folder {
    fn text(&self, name: &str) -> io::Result<String> {
        let bytes = self.0.get(name).cloned().ok_or(io::ErrorKind::NotFound)?;
        String::from_utf8(bytes).map_err(|_| io::ErrorKind::InvalidData.into())
    }
    fn open(&self, name: &str) -> io::Result<Box<dyn Read + '_>> {
        let bytes = self.0.get(name).ok_or(io::ErrorKind::NotFound)?;
        Ok(Box::new(Cursor::new(bytes)))
    }
}
