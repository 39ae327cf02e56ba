// The time axis. Bars stand side by side whatever time lies between them, so ticks are
// bars: the first of every hour, day, month and so on, at the finest step that leaves room
// for labels. Each label says only what has changed since the one before it.
import { look } from './look.mjs';

/** day is how many seconds a day has. */
export const day = 86400;

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** offsetSeconds reads +05:30, alone or at the end of a text; without one it is 0. */
function offsetSeconds(text) {
  const [, sign, hours, minutes] = /([+-])(\d\d):(\d\d)/.exec(text) ?? ['', '+', 0, 0];
  return Number(sign + 1) * (hours * 3600 + minutes * 60);
}

/** offsetIn returns a function from unix seconds to the offset of a zone from UTC, in
 * seconds; for an unknown zone it is 0. For a day whose both ends have the same offset the
 * browser is asked only once. */
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
    if (!days.has(start)) days.set(start, ask(start) === ask(start + day) ? ask(start) : null);
    return days.get(start) ?? ask(t);
  };
}

/** wallTimes returns when each bar begins on the wall clock of a zone. Bars of a day and
 * more are dates, which no zone changes. full numbers the days that have bars. A day with
 * less than half the bars of the fullest counts with the day after it: markets that open
 * on Sunday evening call those hours Monday. */
export function wallTimes(times, seconds, zone) {
  const offset = seconds < day ? offsetIn(zone) : () => 0;
  const walls = times.map(t => t + offset(t));
  const dates = walls.map(wall => Math.floor(wall / day));
  const counts = new Map();
  for (const date of dates) counts.set(date, (counts.get(date) ?? 0) + 1);
  const most = Math.max(...counts.values());
  let full = 0;
  return walls.map((wall, i) => {
    if (i > 0 && dates[i] !== dates[i - 1] && 2 * counts.get(dates[i - 1]) >= most) full++;
    const date = new Date(wall * 1000);
    return { wall, year: date.getUTCFullYear(), month: date.getUTCMonth() + 1, day: date.getUTCDate(), full };
  });
}

/** bucket returns the number of the stretch of a step that contains bar b; where it changes
 * there is a tick. */
function bucket({ unit, n }, b) {
  if (unit === 'time') return Math.floor(b.wall / n);
  if (unit === 'month') return Math.floor((b.year * 12 + b.month - 1) / n);
  if (n === 7) return Math.floor((b.wall - 4 * day) / (7 * day)); // 1970 began on a Thursday
  if (n === 15) return b.year * 24 + b.month * 2 + (b.day >= 15 ? 1 : 0);
  return Math.floor(b.full / n);
}

/** rankOf says what begins with bar b: 3 a year, 2 a month, 1 a day. */
function rankOf(before, b) {
  if (b.year !== before.year) return 3;
  if (b.month !== before.month) return 2;
  return b.day !== before.day ? 1 : 0;
}

/** dateText writes the date of a bar, with the clock where bars are shorter than a
 * day. */
export function dateText(wall, seconds) {
  const text = new Date(wall * 1000).toISOString();
  return seconds < day ? text.slice(0, 10) + ' ' + text.slice(11, 16) : text.slice(0, 10);
}

/** tickLabel returns the label of bar b for a reader who has just read the label of before:
 * it says only what has changed. It also returns whether the label is a strong one. */
function tickLabel(b, before, rank, step) {
  const name = months[b.month - 1];
  const date = `${name} ${b.day}`;
  const clock = dateText(b.wall, 0).slice(11);
  const changed = rankOf(before, b); // since the label before, not the bar before
  if (step.unit === 'time') {
    if (changed === 3) return [`${date} ${b.year}`, true];
    if (changed === 0) return [clock, false];
    return [rank === 0 ? `${date} ${clock}` : date, true];
  }
  const whole = step.unit === 'month' || rank >= 2; // a month begins
  if (changed === 3) return [rank === 3 ? `${b.year}` : `${whole ? name : date} ${b.year}`, true];
  return changed === 2 ? [whole ? name : date, true] : [`${b.day}`, false];
}

/** timeTicks chooses bars of axis.bars and names them. The step is the one whose ticks are on
 * average nearest to axis.apart pixels from each other, and even; where two labels touch, the
 * one that begins less is dropped and the names are written anew. */
export function timeTicks(axis, pitch) {
  const last = look.steps.at(-1);
  let [best, found] = [Infinity, []];
  for (const step of look.steps) {
    if (step.seconds < axis.interval && step.seconds < last.seconds) continue;
    const { bars } = axis;
    const ticks = [];
    for (let i = 1; i < bars.length; i++) {
      if (bucket(step, bars[i]) !== bucket(step, bars[i - 1])) ticks.push({ bar: i, rank: rankOf(bars[i - 1], bars[i]) });
    }
    const apart = (pitch * bars.length) / ticks.length / axis.apart;
    if (ticks.length === 0 || apart < 0.7) continue;
    for (let drop = 0; drop >= 0;) {
      nameTicks(axis, ticks, step);
      drop = conflict(axis, ticks);
      if (drop >= 0) ticks.splice(drop, 1);
    }
    const gaps = ticks.slice(1).map((t, k) => t.bar - ticks[k].bar);
    const off = Math.abs(Math.log(apart)) + (gaps.length ? Math.log(Math.max(...gaps) / Math.min(...gaps)) : 0);
    if (off < best) [best, found] = [off, ticks];
  }
  return found;
}

/** nameTicks writes the label of every tick, with its place. */
function nameTicks(axis, ticks, step) {
  let before = axis.bars[0];
  for (const t of ticks) {
    [t.text, t.strong] = tickLabel(axis.bars[t.bar], before, t.rank, step);
    before = axis.bars[t.bar];
    t.width = axis.width(t.text, t.strong);
    t.x = axis.column(t.bar) - Math.floor(t.width / 2);
  }
}

/** conflict returns the tick to drop because its label leaves the plot, touches
 * another, or stands much nearer to it than steps do; -1 when there is none. */
function conflict(axis, ticks) {
  const leaves = t => t.x + t.width > axis.right || t.x < axis.firstEnd + axis.gap;
  const close = (a, b) => axis.column(b.bar) - axis.column(a.bar) < 0.5 * axis.apart || b.x < a.x + a.width + axis.gap;
  const i = ticks.findIndex((t, k) => leaves(t) || (k > 0 && close(ticks[k - 1], t)));
  return i > 0 && !leaves(ticks[i]) && ticks[i].rank > ticks[i - 1].rank ? i - 1 : i;
}

/** lastEnd returns when the last bar ends. Months have lengths of their own. */
export function lastEnd({ interval, time, n, seconds }) {
  const begin = new Date(time[n - 1] * 1000);
  return interval === '1mo' ? Date.UTC(begin.getUTCFullYear(), begin.getUTCMonth() + 1) / 1000 : time[n - 1] + seconds;
}
