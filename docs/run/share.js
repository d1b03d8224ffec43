// Links that hold a scenario, in the fragment, which a browser sends to no server.

const toBase64 = (bytes) =>
  btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""))
    .replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
const fromBase64 = (text) =>
  Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0));

/** Maximum size of a scenario that a link holds, in bytes once it is unpacked. */
const MAX_LINKED = 8_000_000;

async function through(bytes, transform) {
  const reader = new Blob([bytes]).stream().pipeThrough(transform).getReader();
  const parts = [];
  let size = 0;
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    parts.push(part.value);
    size += part.value.length;
    if (size > MAX_LINKED) throw new Error("the scenario of the link is larger than 8 MB");
  }
  return new Uint8Array(await new Blob(parts).arrayBuffer());
}

/** The fragment of a link: the name of a ready scenario, or its text; and each setting beside it. */
async function fragment({ name, text, overrides }) {
  const parts = new URLSearchParams();
  if (name) parts.set("scenario", name);
  else parts.set("text", toBase64(await through(new TextEncoder().encode(text), new CompressionStream("deflate-raw"))));
  for (const [key, value] of overrides) parts.append("set", `${key}=${value}`);
  return parts.toString();
}

/** What a link asks for: `{ name, text, overrides }`; `null` if it names nothing. */
async function linked(hash) {
  const parts = new URLSearchParams(hash.replace(/^#/, ""));
  const packed = parts.get("text");
  const name = parts.get("scenario");
  if (packed === null && name === null) return null;
  const overrides = parts.getAll("set").map((set) => {
    const at = set.indexOf("=");
    return at < 0 ? [set, ""] : [set.slice(0, at), set.slice(at + 1)];
  });
  if (packed === null) return { name, overrides };
  const text = new TextDecoder().decode(await through(fromBase64(packed), new DecompressionStream("deflate-raw")));
  return { text, overrides };
}
