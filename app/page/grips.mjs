// The handles of a chart: what is under a pointer, and what a drag, a press and a double
// press do with it. Undo takes a drag back that has not ended.
import { rowOf, valueAt } from './scale.mjs';

const leastPane = 30; // logical pixels of a pane whose border is dragged

/** paneAt returns the pane at a row. */
export const paneAt = ({ panes }, y) => panes.find(q => y >= q.y && y < q.end);

/** rangeAt returns the values between two rows of a scale. */
export const rangeAt = (scale, top, bottom) => ({ lo: valueAt(scale, bottom), hi: valueAt(scale, top) });

/** gripAt returns the handle within reach of a place: {cursor, move(by), drop(), undo(),
 * press(), reset()}, of which it may lack some, or undefined. by is in rows from where the
 * drag began. */
export function gripAt(chart, { x, y }, reach) {
  const { panes, axisX } = chart.plan;
  const border = panes.findIndex((pane, k) => k > 0 && Math.abs(y - pane.y) <= reach);
  if (border > 0) return borderGrip(chart, border);
  if (x >= axisX) return paneAt(chart.plan, y) && axisGrip(chart, paneAt(chart.plan, y), y);
  const level = chart.options.levels.find(l => l.movable && Math.abs(rowOf(panes[0].scale, l.price) - y) <= reach);
  return level && levelGrip(chart, level);
}

/** kept returns a handle that changes one member of a chart. */
const kept = (chart, name, move, reset) => {
  const old = chart[name];
  const put = value => {
    chart[name] = value;
    chart.draw();
  };
  return { cursor: 'ns-resize', move: by => put(move(by)), undo: () => put(old), reset: () => put(reset) };
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

/** levelGrip moves a level of the account to another price. */
function levelGrip(chart, level) {
  const pane = chart.plan.panes[0];
  const from = rowOf(pane.scale, level.price);
  const put = dragged => {
    chart.dragged = dragged;
    chart.draw();
  };
  return {
    cursor: 'ns-resize',
    move: by => put({ level, price: chart.priceOf(Math.min(Math.max(from + by, pane.legendEnd), pane.floor)) }),
    undo: () => put(undefined),
    drop: () => {
      const { price } = chart.dragged;
      put(undefined);
      chart.options.onLevel?.(level, price);
    },
  };
}
