// What hands do with a chart: drag to pan, wheel and pinch to zoom, keys, touch, and the handles that can be dragged:
// what is under a pointer, and what a drag, a press and a double press do with it.
import { crossAt, plusAt } from './plan.mjs';
import { rangeAt, rowOf } from './scale.mjs';

const leastBars = 5; // that a window shows
const leastPane = 30; // logical pixels of a pane whose border is dragged
const slop = 4; // logical pixels within which a press is no drag
const twice = { time: 400, away: 30 }; // milliseconds and logical pixels between the two presses of a double one

/** freeBars is the room to the right of the newest bar, in bars. */
export const freeBars = 4;

/** clampWindow keeps a window within the data: with a few bars at least, and not wider than twice all bars. */
export function clampWindow(w, n) {
  const count = Math.min(Math.max(w.count, Math.min(leastBars, Math.max(n, 1))), Math.max(2 * n, leastBars));
  const few = Math.min(leastBars, n);
  return { count, end: Math.min(Math.max(w.end, few), n + count - few) };
}

/** panned returns a window moved by so many bars, to older ones if above zero. */
export const panned = (w, bars, n) => clampWindow({ count: w.count, end: w.end - bars }, n);

/** zoomed returns a window of factor times as many bars, in which the bar at a part of its width (0 left) stays. */
export function zoomed(w, factor, part, n) {
  const { count } = clampWindow({ count: w.count * factor, end: w.end }, n);
  return clampWindow({ count, end: w.end + (count - w.count) * (1 - part) }, n);
}

/** keyMove returns the window that a key leads to, or undefined if it leads to none. */
export function keyMove(key, w, n) {
  const [step, page] = [Math.max(1, w.count / 10), 0.9 * w.count];
  const bars = { ArrowLeft: step, ArrowRight: -step, PageUp: page, PageDown: -page, Home: w.end - w.count, End: w.end - n - freeBars }[key];
  const factor = { '+': 0.8, '=': 0.8, ArrowUp: 0.8, '-': 1.25, _: 1.25, ArrowDown: 1.25 }[key];
  if (factor) return zoomed(w, factor, 1, n);
  return bars === undefined ? undefined : panned(w, bars, n);
}

/** gripAt returns the handle within reach of a place, if there is one: {cursor, move, drop, undo, press, reset} or some
 * of these; move(by) gets rows from where the drag began. With a finger the row that is aimed at is one, too. */
function gripAt(chart, { x, y }, reach, touch) {
  const { plan, cross, options: { onCross, onMenu } } = chart;
  const { panes, axisX, m } = plan;
  const row = l => rowOf(panes[0].scale, l.price);
  const on = (middle, at) => Math.max(Math.abs(x - middle), Math.abs(y - at)) <= Math.max(reach, m.px(9));
  const pressed = press => ({ cursor: 'pointer', press });
  const lines = chart.lines().filter(l => l.movable);
  const crossed = lines.find(l => on(crossAt(plan), row(l)));
  if (crossed) return pressed(() => onCross(crossed));
  if (cross && chart.priceIn(cross.y) && onMenu && on(plusAt(plan), touch ? cross.y : y)) return pressed(() => chart.offer());
  const border = panes.findIndex((pane, k) => k > 0 && Math.abs(y - pane.y) <= reach);
  if (border > 0) return borderGrip(chart, border);
  if (x >= axisX) {
    const pane = panes.find(q => y >= q.y && y < q.end);
    return pane && axisGrip(chart, pane, y);
  }
  const line = lines.find(l => Math.abs(row(l) - y) <= reach);
  if (line) return lineGrip(chart, line, row(line));
  return touch && cross && Math.abs(cross.y - y) <= reach ? kept(chart, 'cross', by => ({ ...cross, y: cross.y + by })) : undefined;
}

/** kept returns a handle that changes one member of a chart. */
const kept = (chart, name, move, reset) => {
  const old = chart[name];
  const put = value => {
    chart[name] = value;
    chart.draw();
  };
  return { cursor: 'ns-resize', move: by => put(move(by)), undo: () => put(old), reset: reset && (() => put(reset)) };
};

/** borderGrip shares the rows of two panes out anew. */
function borderGrip(chart, k) {
  const { panes, m } = chart.plan;
  const rows = panes.map(q => q.end - q.y);
  const least = m.px(leastPane);
  return kept(chart, 'sizes', by => {
    const change = Math.min(Math.max(by, least - rows[k - 1]), rows[k] - least);
    return Object.fromEntries(panes.map((q, i) => [q.key, rows[i] + (i === k - 1 ? change : i === k ? -change : 0)]));
  }, {});
}

/** axisGrip scales a pane around its middle, which ends the automatic scale. */
function axisGrip(chart, { key, scale, y, end }, from) {
  const { top, bottom } = scale;
  const fifth = (end - y) / 5;
  const [middle, half] = [(top + bottom) / 2, (bottom - top) / 2];
  return kept(chart, 'ranges', by => {
    const part = half * Math.max(0.1, (end - from + fifth) / (Math.max(0, end - from - by) + fifth));
    return { ...chart.ranges, [key]: rangeAt(scale, middle - part, middle + part) };
  }, { ...chart.ranges, [key]: undefined });
}

/** lineGrip moves a line of the account to another price, to the tick while it is dragged. */
function lineGrip(chart, line, from) {
  const pane = chart.plan.panes[0];
  const { move, ...grip } = kept(chart, 'dragged', price => ({ line, price }));
  return {
    ...grip,
    move: by => {
      const price = chart.priceOf(Math.min(Math.max(from + by, pane.y), pane.floor));
      if (price > 0 && (line.between?.(price) ?? true)) move(price);
    },
    drop: () => {
      const { dragged } = chart;
      grip.undo();
      if (dragged) chart.options.onLevel(line, dragged.price);
    },
  };
}

/** listen connects the gestures on a canvas with a chart. Only the primary button acts; what is held is let go without
 * effect when the pointer is lost or a second finger comes. */
export function listen(canvas, chart) {
  const pointers = new Map(); // that are pressed, by id
  let before = 0; // distance of two fingers
  let start, dragging, tapped; // the first press, whether it has become a drag, and the tap before it

  const at = e => {
    const box = canvas.getBoundingClientRect();
    return { x: (e.clientX - box.left) * chart.ratio, y: (e.clientY - box.top) * chart.ratio };
  };
  const grip = (place, touch) => gripAt(chart, place, (touch ? 12 : 5) * chart.ratio, touch); // a finger has 24 pixels to hit
  const away = (a, b) => Math.hypot(a.x - b.x, a.y - b.y) / chart.ratio;
  const pan = (dx, dy = 0) => {
    chart.shift(dy);
    chart.show(panned(chart.window, dx / chart.plan.pitch, chart.n));
  };
  const zoom = (factor, x) => chart.show(zoomed(chart.window, factor, x / chart.plan.axisX, chart.n));
  const pinch = () => {
    const [a, b] = pointers.values();
    if (before > 0 && away(a, b) > 0) zoom(before / away(a, b), (a.x + b.x) / 2);
    before = away(a, b);
  };
  const lost = e => {
    if (!pointers.delete(e.pointerId)) return; // after a release there is nothing to lose
    before = 0;
    chart.release();
  };
  /** tap is a press without a drag: on a handle, or at a place to aim at. */
  const tap = (place, e) => {
    const again = tapped && e.timeStamp - tapped.time < twice.time && away(place, tapped) < twice.away;
    tapped = again ? undefined : { ...place, time: e.timeStamp };
    if (again && chart.held?.reset) chart.held.reset();
    else if (chart.held?.press) chart.held.press();
    else chart.point(place);
  };
  const handlers = {
    pointerdown: e => {
      if (e.button !== 0) return;
      const place = at(e);
      canvas.setPointerCapture(e.pointerId);
      pointers.set(e.pointerId, place);
      if (pointers.size > 1) return chart.release();
      [start, dragging] = [place, false];
      chart.held = grip(place, e.pointerType === 'touch');
      start.pans = !chart.held?.move;
    },
    pointermove: e => {
      const [place, old] = [at(e), pointers.get(e.pointerId)];
      if (old) pointers.set(e.pointerId, place);
      dragging ||= Boolean(old) && away(place, start) > slop;
      if (pointers.size === 2) pinch();
      else if (dragging && old && start.pans) pan(place.x - old.x, place.y - old.y);
      else if (dragging) chart.held?.move(place.y - start.y);
      if (pointers.size < 2 && (e.pointerType === 'mouse' || !chart.held?.move)) chart.point(place, grip(place)?.cursor);
    },
    pointerup: e => {
      if (!pointers.delete(e.pointerId)) return;
      before = 0;
      if (!dragging) tap(at(e), e);
      else if (pointers.size === 0) chart.held?.drop?.();
      chart.held = undefined;
      chart.draw();
    },
    pointercancel: lost,
    lostpointercapture: lost,
    pointerleave: e => e.pointerType === 'mouse' && chart.forget(),
    touchstart: e => grip(at(e.touches[0]), true)?.move && e.preventDefault(), // or the page would scroll
    contextmenu: e => {
      if (e.pointerType === 'touch') chart.point(at(e)); // others ask for it where the crosshair is
      if (chart.offer()) e.preventDefault();
    },
    wheel: e => {
      e.preventDefault();
      if (Math.abs(e.deltaX) > Math.abs(e.deltaY)) pan(-e.deltaX * chart.ratio);
      else zoom(Math.exp(Math.min(Math.max(e.deltaY, -100), 100) * 0.002), at(e).x);
    },
  };
  for (const [name, handler] of Object.entries(handlers)) {
    canvas.addEventListener(name, e => chart.plan && handler(e), { passive: false });
  }
}
