// What hands do with a chart: drag to pan, wheel and pinch to zoom, keys, touch. The
// window of bars that follows from a gesture is computed by pure functions.

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
export function panned(w, bars, n) {
  return clampWindow({ count: w.count, end: w.end - bars }, n);
}

/** zoomed returns a window that shows factor times as many bars, with the bar at a part
 * of its width (0 left, 1 right) staying where it is. */
export function zoomed(w, factor, part, n) {
  const count = clampWindow({ count: w.count * factor, end: w.end }, n).count;
  const at = w.end - w.count * (1 - part);
  return clampWindow({ count, end: at + count * (1 - part) }, n);
}

/** keyMove returns the window that a key leads to, or undefined if it leads to none. */
export function keyMove(key, w, n) {
  switch (key) {
    case 'ArrowLeft': return panned(w, Math.max(1, w.count / 10), n);
    case 'ArrowRight': return panned(w, -Math.max(1, w.count / 10), n);
    case 'PageUp': return panned(w, w.count * 0.9, n);
    case 'PageDown': return panned(w, -w.count * 0.9, n);
    case '+': case '=': case 'ArrowUp': return zoomed(w, 1 / 1.25, 1, n);
    case '-': case '_': case 'ArrowDown': return zoomed(w, 1.25, 1, n);
    case 'Home': return clampWindow({ count: w.count, end: w.count }, n);
    case 'End': return clampWindow({ count: w.count, end: n }, n);
  }
  return undefined;
}

/** listen connects the gestures on a canvas with a chart, which has window, n, ratio,
 * plan, show(window), point(x, y), leave(), grab(y), drag(y), drop(). */
export function listen(canvas, chart) {
  const pointers = new Map();
  let grabbed = false; // a level is being dragged, not the chart
  let before = 0; // distance of two fingers

  const at = e => {
    const box = canvas.getBoundingClientRect();
    return { x: (e.clientX - box.left) * chart.ratio, y: (e.clientY - box.top) * chart.ratio };
  };
  const spread = () => {
    const [a, b] = [...pointers.values()];
    return { distance: Math.hypot(a.x - b.x, a.y - b.y), middle: (a.x + b.x) / 2 };
  };
  canvas.addEventListener('pointerdown', e => {
    canvas.setPointerCapture(e.pointerId);
    pointers.set(e.pointerId, at(e));
    if (pointers.size === 1) grabbed = chart.grab(at(e).x, at(e).y);
    if (pointers.size === 2) before = spread().distance;
  });
  canvas.addEventListener('pointermove', e => {
    const now = at(e);
    const old = pointers.get(e.pointerId);
    if (!old) {
      chart.point(now.x, now.y);
      return;
    }
    pointers.set(e.pointerId, now);
    const p = chart.plan;
    if (grabbed) {
      chart.drag(now.y);
    } else if (pointers.size === 2) {
      const { distance, middle } = spread();
      if (distance > 0 && before > 0) chart.show(zoomed(chart.window, before / distance, middle / p.axisX, chart.n));
      before = distance;
    } else if (p) {
      chart.show(panned(chart.window, (now.x - old.x) / p.pitch, chart.n));
      chart.point(now.x, now.y);
    }
  });
  const up = e => {
    pointers.delete(e.pointerId);
    if (grabbed && pointers.size === 0) {
      grabbed = false;
      chart.drop();
    }
  };
  canvas.addEventListener('pointerup', up);
  canvas.addEventListener('pointercancel', up);
  canvas.addEventListener('pointerleave', e => e.pointerType === 'mouse' && chart.leave());
  canvas.addEventListener('wheel', e => {
    e.preventDefault();
    const p = chart.plan;
    if (!p) return;
    if (Math.abs(e.deltaX) > Math.abs(e.deltaY)) chart.show(panned(chart.window, (-e.deltaX * chart.ratio) / p.pitch, chart.n));
    else chart.show(zoomed(chart.window, Math.exp(Math.sign(e.deltaY) * Math.min(Math.abs(e.deltaY), 100) * 0.002), at(e).x / p.axisX, chart.n));
  }, { passive: false });
}
