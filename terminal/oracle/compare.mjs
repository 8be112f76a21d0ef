// Compares what an xterm.js shows with what tmux's capture-pane says a pane shows, cell for cell.

import { defaultWidths, provider } from "../../static/src/widths";

const { wcwidth } = provider(defaultWidths);
const utf8 = new TextEncoder();

// The most bytes of one cell in tmux 3.3a; what does not fit is dropped.
const maxCellBytes = 21;

const bold = 1, dim = 2, italic = 4, underline = 8, blink = 16, inverse = 32, invisible = 64, strike = 128, overline = 256;
const visibleOnBlank = underline | inverse | strike | overline;

const lineDrawing = Object.fromEntries(
  [..."`abcdefghijklmnopqrstuvwxyz{|}~"].map((c, i) => [c, [..."◆▒␉␌␍␊°±␤␋┘┐┌└┼⎺⎻─⎼⎽├┤┴┬│≤≥π≠£·"][i]]),
);

/** Parses the answer of capture-pane -peN into rows of cells. */
export function parseCapture(text) {
  const rows = [];
  const pen = { fg: "", bg: "", flags: 0, drawing: false };
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  for (const line of lines) rows.push(parseLine(line, pen));
  return rows;
}

function parseLine(line, pen) {
  const cells = [];
  let last; // the cell that zero-width characters join
  let bytes = 0;
  let afterZWJ = false;
  for (let i = 0; i < line.length; ) {
    const c = line[i];
    if (c === "\x1b") {
      const sgr = /^\x1b\[([0-9;:]*)m/.exec(line.slice(i, i + 120));
      const link = /^\x1b\]8;[^\x1b\x07]*(\x1b\\|\x07)/.exec(line.slice(i));
      if (sgr) applySGR(pen, sgr[1]);
      else if (!link) throw new Error(`capture-pane has an escape sequence unknown here: ${JSON.stringify(line.slice(i, i + 40))}`);
      i += (sgr ?? link)[0].length;
      continue;
    }
    if (c === "\x0e" || c === "\x0f") {
      pen.drawing = c === "\x0e";
      i++;
      continue;
    }
    const code = line.codePointAt(i);
    const ch = String.fromCodePoint(code);
    i += ch.length;
    const size = utf8.encode(ch).length;
    const width = wcwidth(code);
    if (last && code > 0x7f && (width === 0 || afterZWJ) && bytes + size <= maxCellBytes) {
      last.chars += ch;
      bytes += size;
      afterZWJ = code === 0x200d;
      continue;
    }
    afterZWJ = false;
    bytes = size;
    last = { chars: pen.drawing ? (lineDrawing[ch] ?? ch) : ch, width, fg: pen.fg, bg: pen.bg, flags: pen.flags };
    cells.push(last);
    if (width === 2) cells.push({ ...last, chars: "", width: 0 });
  }
  return cells;
}

function applySGR(pen, params) {
  const parts = params === "" ? ["0"] : params.split(";");
  for (let i = 0; i < parts.length; i++) {
    const [n, sub] = parts[i].split(":").map(Number);
    const set = { 1: bold, 2: dim, 3: italic, 4: underline, 5: blink, 7: inverse, 8: invisible, 9: strike, 21: underline, 53: overline }[n];
    const clear = { 22: bold | dim, 23: italic, 24: underline, 25: blink, 27: inverse, 28: invisible, 29: strike, 55: overline }[n];
    if (parts[i] === "5:3") pen.flags |= overline; // as tmux 3.3a writes 53
    else if (n === 0) Object.assign(pen, { fg: "", bg: "", flags: 0 });
    else if (n === 4 && sub === 0) pen.flags &= ~underline;
    else if (set) pen.flags |= set;
    else if (clear) pen.flags &= ~clear;
    else if (n >= 30 && n <= 37) pen.fg = String(n - 30);
    else if (n >= 40 && n <= 47) pen.bg = String(n - 40);
    else if (n >= 90 && n <= 97) pen.fg = String(n - 82);
    else if (n >= 100 && n <= 107) pen.bg = String(n - 92);
    else if (n === 39) pen.fg = "";
    else if (n === 49) pen.bg = "";
    else if (n === 59) continue;
    else if (n === 38 || n === 48 || n === 58) {
      // tmux writes 38;5;n and 38;2;r;g;b, and with colons for underlines.
      const rest = parts[i].includes(":") ? parts[i].split(":").slice(1) : parts.slice(i + 1, i + (parts[i + 1] === "5" ? 3 : 5));
      if (!parts[i].includes(":")) i += rest.length;
      const colour = rest[0] === "5" ? rest[1] : "#" + rest.filter((x) => x !== "").slice(-3).map((x) => Number(x).toString(16).padStart(2, "0")).join("");
      if (n === 38) pen.fg = colour;
      else if (n === 48) pen.bg = colour;
    } else throw new Error(`capture-pane has SGR ${parts[i]}, unknown here`);
  }
}

/** xterm.js underlines links, and no public API tells a link from an underline. */
const isLink = (cell) => Boolean(cell.extended?.urlId);

/** A cell of xterm.js in the same form. */
function xtermCell(cell) {
  const colour = (isDefault, isRGB, value) => (isDefault ? "" : isRGB ? "#" + value.toString(16).padStart(6, "0") : String(value));
  const flags =
    (cell.isBold() && bold) | (cell.isDim() && dim) | (cell.isItalic() && italic) | (cell.isUnderline() && !isLink(cell) && underline) |
    (cell.isBlink() && blink) | (cell.isInverse() && inverse) | (cell.isInvisible() && invisible) |
    (cell.isStrikethrough() && strike) | (cell.isOverline() && overline);
  return {
    chars: cell.getChars(),
    width: cell.getWidth(),
    fg: colour(cell.isFgDefault(), cell.isFgRGB(), cell.getFgColor()),
    bg: colour(cell.isBgDefault(), cell.isBgRGB(), cell.getBgColor()),
    flags,
  };
}

/**
 * The text of a cell without what the two may differ in: xterm.js keeps what tmux drops from a cluster over 21 bytes,
 * shows nothing where tmux has a space, and puts a mark alone into a blank cell; it never shows a byte order mark.
 */
function text(chars) {
  let out = "";
  let bytes = 0;
  for (const ch of chars) {
    const size = utf8.encode(ch).length;
    if (ch === "\ufeff") continue;
    if (out === "" && wcwidth(ch.codePointAt(0)) === 0) {
      out = " ";
      bytes = 1;
    }
    if (bytes + size > maxCellBytes) continue;
    out += ch;
    bytes += size;
  }
  return out.replace(/\u200d+$/, "") || " ";
}

/**
 * Lists where the terminal differs from want: { cols, rows, x, y, alternate, history, exactHistory, capture }, where
 * capture is history and screen.
 */
export function compare(term, want, limit = 5) {
  const differences = [];
  const differ = (what, tmux, xterm) => differences.push(`${what}: tmux ${tmux}, xterm.js ${xterm}`);
  const buffer = term.buffer.active;
  if (term.cols !== want.cols || term.rows !== want.rows) {
    differ("size", `${want.cols}x${want.rows}`, `${term.cols}x${term.rows}`);
    return differences;
  }
  if ((buffer.type === "alternate") !== want.alternate) differ("screen", want.alternate ? "alternate" : "normal", buffer.type);
  if (buffer.cursorX !== want.x || buffer.cursorY !== want.y)
    differ("cursor", `${want.x},${want.y}`, `${buffer.cursorX},${buffer.cursorY}`);

  const rows = parseCapture(want.capture);
  if (rows.length !== want.history + want.rows) differ("capture rows", rows.length, want.history + want.rows);
  const history = buffer.baseY;
  // An xterm.js that has shrunk scrolls its alternate screen into a history of its own.
  const known = buffer.type === "normal" && !want.ignoreHistory;
  const comparable = known ? Math.min(want.history, want.scrollback) : 0;
  if (known && (want.exactHistory ? history !== comparable : history < comparable)) differ("history lines", comparable, history);

  for (let y = want.rows - 1; y >= -Math.min(history, comparable); y--) {
    if (differences.length >= limit) break;
    const difference = compareRow(rows[want.history + y] ?? [], buffer.getLine(history + y), want.cols);
    if (difference) differences.push(`row ${y}${difference}`);
  }
  return differences;
}

function compareRow(row, line, cols) {
  const show = () =>
    `\n    tmux     ${JSON.stringify(row.map((c) => c.chars).join(""))}\n    xterm.js ${JSON.stringify(line?.translateToString(false))}`;
  if (!line) return `: no such line in xterm.js` + show();
  let cell;
  for (let x = 0; x < cols; x++) {
    cell = line.getCell(x, cell);
    const got = xtermCell(cell);
    const want = row[x];
    if (!want) {
      // tmux does not tell the background of cells that were only erased.
      if (text(got.chars) !== " ") return ` column ${x}: tmux blank, xterm.js ${JSON.stringify(got.chars)}` + show();
      continue;
    }
    if (want.width === 0 && got.width === 0) continue;
    if (text(got.chars) !== text(want.chars) || (got.width || 1) !== (want.width || 1))
      return ` column ${x}: tmux ${JSON.stringify(want.chars)}/${want.width}, xterm.js ${JSON.stringify(got.chars)}/${got.width}` + show();
    // Nor, when a viewer joined, of those right of what was written then.
    if (got.chars === "" && got.bg === "" && want.chars === " ") continue;
    const blank = text(got.chars) === " " && !((got.flags | want.flags) & visibleOnBlank);
    const look = (c) => (blank ? `bg ${c.bg}` : `fg ${c.fg} bg ${c.bg} flags ${c.flags}`);
    if (look(got) !== look(want)) return ` column ${x} ${JSON.stringify(want.chars)}: tmux ${look(want)}, xterm.js ${look(got)}` + show();
  }
  return "";
}
