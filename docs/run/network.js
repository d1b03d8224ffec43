// Where the nodes of a network are drawn, as the report does: switches in a line, in a circle, or in tiers above their hosts.

/** Places of all nodes, from 0 to 1 to the right and downwards; the height of the drawing by its width, and whether hosts stand in blocks. */
function layOut({ nodes, links }) {
  const beside = nodes.map(() => []);
  for (const [a, b] of links) {
    if (!beside[a].includes(b)) beside[a].push(b);
    if (!beside[b].includes(a)) beside[b].push(a);
  }
  const isHost = (node) => nodes[node][2];
  const all = nodes.map((_, node) => node);
  const net = {
    beside,
    isHost,
    tier: (node) => nodes[node][1],
    switches: all.filter((node) => !isHost(node)),
    hostsOf: (node) => beside[node].filter(isHost),
    switchesOf: (node) => beside[node].filter((other) => !isHost(other)),
    count: nodes.length,
  };
  const line = lineOf(net);
  if (line.length) return inLine(net, line);
  if (net.switches.length >= 3 && net.switches.length <= 40 && net.switches.every((node) => net.tier(node) === 1)) {
    return inCircle(net);
  }
  return inTiers(net);
}

/** The switches in their order if they make a line of two or more; else nothing. */
function lineOf(net) {
  const ends = net.switches.filter((node) => net.switchesOf(node).length === 1);
  if (ends.length !== 2 || net.switches.some((node) => net.switchesOf(node).length > 2)) return [];
  const line = [ends[0]];
  while (line.length < net.switches.length) {
    const next = net.switchesOf(line.at(-1)).find((node) => !line.slice(-2).includes(node));
    if (next === undefined) return [];
    line.push(next);
  }
  return line;
}

function inLine(net, line) {
  const places = [];
  line.forEach((node, number) => {
    const x = 0.25 + (0.5 * number) / (line.length - 1);
    places[node] = [x, 0.5];
    const hosts = net.hostsOf(node);
    hosts.forEach((host, rank) => {
      const middle = (rank + 0.5) / hosts.length;
      if (number === 0) places[host] = [0.06, middle];
      else if (number === line.length - 1) places[host] = [0.94, middle];
      else places[host] = [x + (middle - 0.5) * (0.4 / (line.length - 1)), 0.85];
    });
  });
  return { places, shape: 0.4 };
}

function inCircle(net) {
  const places = [];
  // A walk from neighbour to neighbour keeps most links short.
  const left = new Set(net.switches);
  const order = [];
  for (let node = net.switches[0]; node !== undefined; ) {
    order.push(node);
    left.delete(node);
    node = net.switchesOf(node).find((other) => left.has(other)) ?? [...left][0];
  }
  order.forEach((node, number) => {
    const angle = (2 * Math.PI * number) / order.length - Math.PI / 2;
    const at = (turn, far) => [0.5 + far * 0.47 * Math.cos(turn), 0.5 + far * 0.45 * Math.sin(turn)];
    places[node] = at(angle, 0.62);
    const hosts = net.hostsOf(node);
    hosts.forEach((host, rank) => {
      const turn = angle + ((2 * Math.PI) / order.length) * 0.8 * ((rank + 0.5) / hosts.length - 0.5);
      places[host] = at(turn, 0.98);
    });
  });
  return { places, shape: 0.6 };
}

function inTiers(net) {
  const tiers = Math.max(...net.switches.map(net.tier), 1);
  const places = [];
  // Hosts in the order of their switches; each switch above those that are below it.
  const edges = net.switches.filter((node) => net.hostsOf(node).length);
  const hosts = [...new Set(edges.flatMap(net.hostsOf))];
  const rows = hosts.length > 60 ? 4 : 1;
  const columns = Math.ceil(hosts.length / rows);
  hosts.forEach((host, rank) => {
    const x = (Math.floor(rank / rows) + 0.5) / columns;
    places[host] = [x, 0.86 + (rows > 1 ? (rank % rows) * 0.035 : 0.06)];
  });
  for (let tier = 1; tier <= tiers; tier += 1) {
    const row = net.switches.filter((node) => net.tier(node) === tier);
    const below = (node) => net.beside[node].filter((other) => places[other] && net.tier(other) < tier).map((other) => places[other][0]);
    const mean = new Map(row.map((node) => [node, below(node).reduce((sum, x, _, all) => sum + x / all.length, 0)]));
    const order = [...row].sort((a, b) => mean.get(a) - mean.get(b) || a - b);
    order.forEach((node, rank) => {
      places[node] = [(rank + 0.5) / order.length, tiers === 1 ? 0.2 : 0.66 - (0.58 * (tier - 1)) / (tiers - 1)];
    });
  }
  return { places, shape: tiers === 1 ? 0.35 : 0.45, inBlocks: rows > 1 };
}
