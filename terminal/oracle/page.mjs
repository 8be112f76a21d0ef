// The page of the differential oracle: for each viewer what a browser's tab would hold, one headless xterm.js a pane,
// fed by the frames of a real server through the page's own decoder and widths.
//
// Messages on stdin and stdout: u32 length of what follows, u32 viewer, u8 kind, payload.

import xterm from "@xterm/headless";
import { decode, encodeAck, frame, snapshotFlag } from "../../static/src/wire";
import { defaultWidths, follow } from "../../static/src/widths";
import { compare } from "./compare.mjs";

const kind = { text: 1, binary: 2, open: 3, question: 4, forget: 5, answer: 6 };
const ready = Promise.resolve();

class Pane {
  constructor(viewer, id) {
    this.viewer = viewer;
    this.id = id;
    this.offset = -1; // after the last byte written; -1 until a snapshot came
    this.term = new xterm.Terminal({ cols: 80, rows: 24, scrollback: viewer.scrollback, allowProposedApi: true });
    follow(this.term, viewer.widths);
    this.whole = false; // the last snapshot had the history
    this.chunks = []; // of a snapshot that has not all come
    this.queue = ready; // what is done to the terminal, in order
  }

  apply(f) {
    this.queue = this.queue.then(() => this.take(f)).catch((error) => this.viewer.fail(error));
  }

  async take(f) {
    switch (f.type) {
      case frame.snapshot:
        if (f.flags & snapshotFlag.first) this.chunks = [];
        this.chunks.push(f);
        if (!(f.flags & snapshotFlag.last)) return;
        // Without a first chunk it repaints, and the history stays.
        if (this.chunks[0].flags & snapshotFlag.first) {
          await this.write("\x1bc");
          this.whole = (f.flags & snapshotFlag.history) !== 0;
        }
        this.term.resize(f.size.cols, f.size.rows);
        for (const chunk of this.chunks) await this.write(chunk.data);
        this.chunks = [];
        this.offset = f.offset;
        break;
      case frame.output:
        if (f.offset !== this.offset) throw new Error(`pane ${this.id}: output from ${f.offset}, have ${this.offset}`);
        await this.write(f.data);
        this.offset += f.data.length;
        break;
      case frame.resize:
        if (f.offset !== this.offset) throw new Error(`pane ${this.id}: resize at ${f.offset}, have ${this.offset}`);
        this.term.resize(f.size.cols, f.size.rows);
        return;
    }
    if (this.offset >= 0) this.viewer.send(kind.binary, encodeAck(this.id, this.offset));
  }

  write(data) {
    return new Promise((done) =>
      this.term.write(data, this.viewer.delay ? () => setTimeout(done, this.viewer.delay) : done),
    );
  }
}

class Viewer {
  constructor(id, { scrollback, delay }) {
    this.id = id;
    this.scrollback = scrollback;
    this.delay = delay; // ms after each write: a slow browser
    this.widths = defaultWidths;
    this.panes = new Map();
    this.stream = "";
    this.size = undefined;
    this.failures = [];
  }

  fail(error) {
    this.failures.push(String(error?.stack ?? error));
  }

  send(k, payload) {
    send(this.id, k, payload);
  }

  text(m) {
    switch (m.type) {
      case "welcome":
        this.widths = m.widths;
        if (m.stream !== this.stream) for (const pane of this.panes.values()) pane.offset = -1;
        this.stream = m.stream;
        break;
      case "layout": {
        const shown = new Set(m.panes.map((p) => p.id));
        for (const id of this.panes.keys()) if (!shown.has(id)) this.panes.delete(id);
        break;
      }
      case "ended":
        this.ended = m.reason;
        break;
    }
  }

  binary(data) {
    const f = decode(data);
    if (f.type === frame.inputAck) return;
    let pane = this.panes.get(f.pane);
    if (!pane) this.panes.set(f.pane, (pane = new Pane(this, f.pane)));
    pane.apply(f);
  }

  async answer(q) {
    const pane = this.panes.get(q.pane);
    switch (q.ask) {
      case "offsets": {
        await Promise.all([...this.panes.values()].map((p) => p.queue));
        const panes = {};
        for (const [id, p] of this.panes) if (p.offset >= 0 && p.whole) panes[id] = p.offset;
        return { stream: this.stream, panes };
      }
      case "compare": {
        const differences = [...this.failures];
        if (!pane) return { differences: [...differences, `pane ${q.pane} never came`] };
        await pane.queue;
        return { differences: [...differences, ...compare(pane.term, { ...q, scrollback: this.scrollback })], offset: pane.offset };
      }
      default:
        throw new Error(`unknown question ${q.ask}`);
    }
  }
}

const viewers = new Map();

function receive(id, k, payload) {
  const viewer = viewers.get(id);
  const json = () => JSON.parse(payload.toString());
  switch (k) {
    case kind.open:
      viewers.set(id, new Viewer(id, json()));
      break;
    case kind.forget:
      for (const pane of viewer.panes.values()) pane.term.dispose();
      viewers.delete(id);
      break;
    case kind.text:
      viewer.text(json());
      break;
    case kind.binary:
      try {
        viewer.binary(payload.buffer.slice(payload.byteOffset, payload.byteOffset + payload.length));
      } catch (error) {
        viewer.fail(error);
      }
      break;
    case kind.question: {
      const q = json();
      viewer.answer(q).then(
        (a) => send(id, kind.answer, Buffer.from(JSON.stringify({ id: q.id, ...a }))),
        (error) => send(id, kind.answer, Buffer.from(JSON.stringify({ id: q.id, differences: [String(error.stack)] }))),
      );
      break;
    }
  }
}

function send(id, k, payload) {
  const head = Buffer.alloc(9);
  head.writeUInt32BE(payload.length + 5, 0);
  head.writeUInt32BE(id, 4);
  head[8] = k;
  process.stdout.write(head);
  process.stdout.write(payload);
}

let pending = Buffer.alloc(0);
process.stdin.on("data", (chunk) => {
  pending = pending.length ? Buffer.concat([pending, chunk]) : chunk;
  while (pending.length >= 4) {
    const length = pending.readUInt32BE(0);
    if (pending.length < 4 + length) return;
    receive(pending.readUInt32BE(4), pending[8], pending.subarray(9, 4 + length));
    pending = pending.subarray(4 + length);
  }
});
process.stdin.on("end", () => process.exit(0));
