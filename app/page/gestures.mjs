// What hands do with a chart: drag to pan, wheel and pinch to zoom, keys, touch, and the
// handles that can be dragged.
import { gripAt } from './grips.mjs';

/** leastBars is how few bars a window may show. */
const leastBars = 5;

/** freeBars is the room to the right of the newest bar, in bars. */
export const freeBars = 4;

/** clampWindow keeps a window within the data: at least a few bars are in it, and it
 * is not wider than twice all bars. */
export function clampWindow(w, n) {
  const count = Math.min(Math.max(w.count, Math.min(leastBars, Math.max(n, 1))), Math.max(2 * n, leastBars));
  const few = Math.min(leastBars, n);
  return { count, end: Math.min(Math.max(w.end, few), n + count - few) };
}

/** panned returns a window moved by so many bars, to older ones if above zero. */
export const panned = (w, bars, n) => clampWindow({ count: w.count, end: w.end - bars }, n);

/** zoomed returns a window that shows factor times as many bars, with the bar at a part
 * of its width (0 left, 1 right) staying where it is. */
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

const slop = 4; // logical pixels within which a press is no drag
const twice = { time: 400, away: 30 }; // milliseconds and logical pixels between the two presses of a double one

/** listen connects the gestures on a canvas with a chart. Only the primary button acts; what
 * is held is let go without effect when the pointer is lost or a second finger comes. */
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
