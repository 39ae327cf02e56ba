// The handles of a chart: what is under a pointer, and what a drag, a press and a double
// press do with it. Undo takes a drag back that has not ended.
import { plusAt, crossAt } from './plan.mjs';
import { rowOf, valueAt } from './scale.mjs';

const leastPane = 30; // logical pixels of a pane whose border is dragged

/** paneAt returns the pane at a row. */
const paneAt = ({ panes }, y) => panes.find(q => y >= q.y && y < q.end);

/** rangeAt returns the values between two rows of a scale. */
export const rangeAt = (scale, top, bottom) => ({ lo: valueAt(scale, bottom), hi: valueAt(scale, top) });

/** gripAt returns the handle within reach of a place: {cursor, move(by), drop(), undo(),
 * press(), reset()}, of which it may lack some, or undefined. by is in rows from where the
 * drag began. With a finger the row that is aimed at is a handle, too. */
export function gripAt(chart, { x, y }, reach, touch) {
  const { plan, cross } = chart;
  const { panes, axisX } = plan;
  const row = l => rowOf(panes[0].scale, l.price);
  const on = (middle, at) => Math.max(Math.abs(x - middle), Math.abs(y - at)) <= Math.max(reach, plan.m.px(9));
  const lines = chart.lines().filter(l => l.movable);
  const crossed = lines.find(l => on(crossAt(plan), row(l)));
  if (crossed) return { cursor: 'pointer', press: () => chart.options.onCross(crossed) };
  if (cross && chart.priceIn(cross.y) && chart.options.onMenu && on(plusAt(plan), touch ? cross.y : y)) return { cursor: 'pointer', press: () => chart.offer() };
  const named = chart.options.onStudy && panes.flatMap(pane => pane.names).find(n => x > n.x && x < n.x + n.width && Math.abs(y - n.y) <= plan.m.rowH / 2);
  const press = named && !named.st.compare ? () => chart.options.onStudy(named.st, { x: named.x / chart.ratio, y: (named.y + plan.m.rowH / 2) / chart.ratio }) : undefined;
  const border = panes.findIndex((pane, k) => k > 0 && Math.abs(y - pane.y) <= reach);
  if (border > 0 && (touch || !press)) return { ...borderGrip(chart, border), press };
  if (press) return { cursor: 'pointer', press };
  const pane = paneAt(plan, y);
  if (x >= axisX) return pane && axisGrip(chart, pane, y);
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
      const price = chart.priceOf(Math.min(Math.max(from + by, pane.legendEnd), pane.floor));
      if (price > 0 && (line.between?.(price) ?? true)) move(price);
    },
    drop: () => {
      const { dragged } = chart;
      grip.undo();
      if (dragged) chart.options.onLevel(line, dragged.price);
    },
  };
}
