// The time axis. Bars stand side by side whatever time lies between them, so ticks
// are chosen among bars: the first bar of every hour, day, month and so on, at the
// finest step that leaves room for labels. Each label says only what has changed
// since the one before it.
import { look } from './look.mjs';

const day = 86400;
const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** intervalSeconds returns the length of a bar such as 15m, 4h, 1d, 1wk or 1mo. */
export function intervalSeconds(interval) {
  const sizes = { m: 60, h: 3600, d: day, wk: 7 * day, mo: 30 * day };
  const found = /^(\d+)(mo|wk|m|h|d)$/.exec(interval);
  return found ? Number(found[1]) * sizes[found[2]] : day;
}

/** offsetSeconds reads +05:30, alone or at the end of a text; without one it is 0. */
function offsetSeconds(text) {
  const [, sign, hours, minutes] = /([+-])(\d\d):(\d\d)/.exec(text) ?? ['', '+', 0, 0];
  return Number(sign + 1) * (hours * 3600 + minutes * 60);
}

/** offsetIn returns a function from unix seconds to what the clocks of a zone add to
 * UTC, in seconds; of an unknown zone nothing. Days whose ends agree are asked once. */
export function offsetIn(zone = 'UTC') {
  if (/^[+-]/.test(zone)) return () => offsetSeconds(zone);
  let format;
  try {
    format = new Intl.DateTimeFormat('en-US', { timeZone: zone, timeZoneName: 'longOffset' });
  } catch {
    return () => 0;
  }
  const ask = t => offsetSeconds(format.format(t * 1000)); // 7/1/2026, GMT+02:00
  const days = new Map();
  return t => {
    const start = Math.floor(t / day) * day;
    if (!days.has(start)) {
      const first = ask(start);
      days.set(start, first === ask(start + day) ? first : null);
    }
    return days.get(start) ?? ask(t);
  };
}

/** wallTimes returns when each bar begins on the wall clock of a zone. Bars of a day
 * and more are dates, which no zone changes. */
export function wallTimes(times, seconds, zone) {
  const offset = seconds < day ? offsetIn(zone) : () => 0;
  const date = new Date();
  return times.map(t => {
    const wall = t + offset(t);
    date.setTime(wall * 1000);
    return { wall, year: date.getUTCFullYear(), month: date.getUTCMonth() + 1, day: date.getUTCDate(), full: 0 };
  });
}

/** countDays numbers the days that have bars. A day with less than half the bars of
 * the fullest counts with the day after it: markets that open on Sunday evening call
 * those hours Monday. */
export function countDays(bars) {
  const days = [];
  for (const b of bars) {
    const before = days.at(-1)?.[0];
    if (before && Math.floor(before.wall / day) === Math.floor(b.wall / day)) days.at(-1).push(b);
    else days.push([b]);
  }
  const most = days.reduce((n, list) => Math.max(n, list.length), 0);
  let full = 0;
  for (const list of days) {
    for (const b of list) b.full = full;
    if (2 * list.length >= most) full++;
  }
}

/** bucket returns a number that changes where a tick of a step belongs. */
function bucket(step, b) {
  if (step.unit === 'time') return Math.floor(b.wall / step.n);
  if (step.unit === 'month') return Math.floor((b.year * 12 + b.month - 1) / step.n);
  if (step.n === 7) return Math.floor((b.wall - 4 * day) / (7 * day)); // 1970 began on a Thursday
  if (step.n === 15) return b.year * 24 + b.month * 2 + (b.day >= 15 ? 1 : 0);
  return Math.floor(b.full / step.n);
}

/** rank says what begins with bar b: 3 a year, 2 a month, 1 a day. */
function rank(before, b) {
  if (b.year !== before.year) return 3;
  if (b.month !== before.month) return 2;
  return b.day !== before.day ? 1 : 0;
}

/** clock writes the time of day of a bar. */
export function clock(wall) {
  return new Date(wall * 1000).toISOString().slice(11, 16);
}

/** dateText writes the date of a bar, with the clock where bars are shorter than a
 * day. */
export function dateText(wall, seconds) {
  const text = new Date(wall * 1000).toISOString();
  return seconds < day ? text.slice(0, 10) + ' ' + text.slice(11, 16) : text.slice(0, 10);
}

/** tickLabel names bar b for a reader who has just read the label of before: what
 * differs, and only what he cannot know. */
function tickLabel(b, before, rank, step) {
  const name = months[b.month - 1];
  const newYear = b.year !== before.year;
  const newMonth = newYear || b.month !== before.month;
  if (step.unit === 'time') {
    if (newYear) return [`${name} ${b.day} ${b.year}`, true];
    if (!newMonth && b.day === before.day) return [clock(b.wall), false];
    return [rank === 0 ? `${name} ${b.day} ${clock(b.wall)}` : `${name} ${b.day}`, true];
  }
  if (newYear && rank === 3) return [`${b.year}`, true];
  if (newYear && (step.unit === 'month' || rank === 2)) return [`${name} ${b.year}`, true];
  if (newYear) return [`${name} ${b.day} ${b.year}`, true];
  if (newMonth && (step.unit === 'month' || rank >= 2)) return [name, true];
  if (newMonth) return [`${name} ${b.day}`, true];
  return [`${b.day}`, false];
}

/** timeTicks chooses bars of axis.bars and names them. The step is the finest whose
 * ticks are at least axis.apart pixels from each other on average; where two labels
 * touch, the one that begins less is dropped and the names are written anew. */
export function timeTicks(axis, pitch) {
  const { step, ticks } = candidates(axis, pitch);
  for (;;) {
    nameTicks(axis, ticks, step);
    const drop = conflict(axis, ticks);
    if (drop < 0) return ticks;
    ticks.splice(drop, 1);
  }
}

function candidates(axis, pitch) {
  const last = look.steps[look.steps.length - 1];
  for (const step of look.steps) {
    if (step.seconds < axis.interval && step.seconds < last.seconds) continue;
    const ticks = [];
    for (let i = 1; i < axis.bars.length; i++) {
      if (bucket(step, axis.bars[i]) !== bucket(step, axis.bars[i - 1])) ticks.push({ bar: i, rank: rank(axis.bars[i - 1], axis.bars[i]) });
    }
    if (axis.bars.length > 0 && pitch * axis.bars.length >= axis.apart * ticks.length) return { step, ticks };
  }
  return { step: last, ticks: [] };
}

function nameTicks(axis, ticks, step) {
  let before = axis.bars[0];
  for (const t of ticks) {
    const b = axis.bars[t.bar];
    [t.text, t.strong] = tickLabel(b, before, t.rank, step);
    before = b;
    t.width = axis.width(t.text, t.strong);
    t.x = axis.column(t.bar) - Math.floor(t.width / 2);
  }
}

/** conflict returns the tick to drop because its label leaves the plot, touches
 * another, or stands much nearer to it than steps do; -1 when there is none. */
function conflict(axis, ticks) {
  for (let i = 0; i < ticks.length; i++) {
    const t = ticks[i];
    if (t.x + t.width > axis.right || t.x < axis.firstEnd + axis.gap) return i;
    if (i === 0) continue;
    const other = ticks[i - 1];
    const near = axis.column(t.bar) - axis.column(other.bar) < 0.6 * axis.apart;
    if (near || t.x < other.x + other.width + axis.gap) return t.rank > other.rank ? i - 1 : i;
  }
  return -1;
}
