// What hands do with a chart: drag to pan, wheel and pinch to zoom, keys, touch.

/** leastBars is how few bars a window may show. */
const leastBars = 5;

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
  const bars = { ArrowLeft: step, ArrowRight: -step, PageUp: page, PageDown: -page, Home: w.end - w.count, End: w.end - n }[key];
  const factor = { '+': 0.8, '=': 0.8, ArrowUp: 0.8, '-': 1.25, _: 1.25, ArrowDown: 1.25 }[key];
  if (factor) return zoomed(w, factor, 1, n);
  return bars === undefined ? undefined : panned(w, bars, n);
}

const pause = 300; // milliseconds without a move after which a pointer rests
const jump = 80; // logical pixels between two events that no hand moves within a frame

/** moved returns the motion of a pointer with one more place. Moves that follow each other at
 * once are one motion; it begins where the pointer rested. */
export function moved(motion, place, time) {
  if (!motion) return { from: place, to: place, time };
  return { from: time - motion.time < pause ? motion.from : motion.to, to: place, time };
}

/** restOf returns where a pointer rested before it left for an outside place: on the way to a
 * button it crosses places that nobody aimed at. */
export function restOf({ from, to, time }, outside, left, ratio) {
  const jumped = Math.hypot(outside.x - to.x, outside.y - to.y) > jump * ratio;
  return jumped || left - time >= pause ? to : from;
}

/** listen connects the gestures on a canvas with a chart, which has window, n, ratio,
 * plan, dragged, show(window), point(x, y, time), leave(place, time), levelAt(x, y), drag(y),
 * drop(). */
export function listen(canvas, chart) {
  const pointers = new Map(); // the fingers on the canvas, by id
  let before = 0; // distance of two fingers

  const at = e => {
    const box = canvas.getBoundingClientRect();
    return { x: (e.clientX - box.left) * chart.ratio, y: (e.clientY - box.top) * chart.ratio };
  };
  const pan = pixels => chart.show(panned(chart.window, pixels / chart.plan.pitch, chart.n));
  const zoom = (factor, x) => chart.show(zoomed(chart.window, factor, x / chart.plan.axisX, chart.n));
  const pinch = () => {
    const [a, b] = pointers.values();
    const distance = Math.hypot(a.x - b.x, a.y - b.y);
    if (distance > 0 && before > 0) zoom(before / distance, (a.x + b.x) / 2);
    before = distance;
  };
  const up = e => {
    pointers.delete(e.pointerId);
    before = 0;
    if (chart.dragged && pointers.size === 0) chart.drop();
    else if (e.type === 'pointerup') point(e); // a tap aims, too
  };
  const point = e => chart.point(at(e).x, at(e).y, e.timeStamp);
  const handlers = {
    pointerdown: e => {
      const { x, y } = at(e);
      canvas.setPointerCapture(e.pointerId);
      pointers.set(e.pointerId, { x, y });
      if (pointers.size === 1) chart.dragged = chart.levelAt(x, y);
    },
    pointermove: e => {
      const { x, y } = at(e);
      const old = pointers.get(e.pointerId);
      if (old) pointers.set(e.pointerId, { x, y });
      if (old && chart.dragged) chart.drag(y);
      else if (pointers.size === 2) pinch();
      else if (old) pan(x - old.x);
      if (!chart.dragged && pointers.size < 2) point(e);
    },
    pointerup: up,
    pointercancel: up,
    pointerleave: e => e.pointerType === 'mouse' && chart.leave(at(e), e.timeStamp),
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
