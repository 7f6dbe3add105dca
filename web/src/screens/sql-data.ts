// Statements and their results: examples, order of rows, what a chart shows, text to copy. Nothing here knows of the
// page.
import type { Failure, Metric, Opened } from '../api';
import { real } from '../format';

export type Cell = string | number | null;
export type Type = 'integer' | 'real' | 'text' | 'blob' | 'null' | 'mixed';

/** POST api/sql */
export interface Result {
  columns: string[];
  types: Type[];
  rows: Cell[][];
  n: number;
  more: boolean;
  seconds: number;
}

export interface SchemaColumn {
  name: string;
  type: string;
  about: string | null;
}

/** api/schema */
export interface Schema {
  tables: { name: string; about: string | null; rows: number | null; columns: SchemaColumn[] }[];
}

const KEYWORDS = new Set([
  'set',
  'from',
  'to',
  'end',
  'group',
  'order',
  'index',
  'table',
  'select',
  'where',
  'values',
  'commit',
  'case',
  'when',
  'then',
  'else',
  'limit',
  'join',
  'on',
  'as',
  'and',
  'or',
  'not',
  'null',
  'in',
  'is',
  'by',
  'default',
  'check',
  'key',
  'column',
  'references',
]);

/** A name as a statement writes it. */
export function sqlName(name: string): string {
  return /^[A-Za-z_]\w*$/.test(name) && (!KEYWORDS.has(name.toLowerCase()) || name === 'end')
    ? name
    : `"${name.replace(/"/g, '""')}"`;
}

export const sqlText = (text: string): string => `'${text.replace(/'/g, "''")}'`;

export interface Example {
  title: string;
  statement: string;
}

/** A dozen statements for what the input has. */
export function examplesOf(input: Opened, metric: Metric | null): Example[] {
  const { has } = input;
  const events = Number(has.events) > 0;
  // Both sides of a metric may have one name: nodes are those of the inclusive one
  const of = metric
    ? `(select id from metric where name = ${sqlText(metric.name)}${metric.kind === 'inclusive' ? " and kind = 'inclusive'" : ''})`
    : '0';
  // What is neither inclusive nor exclusive has its values in one column alone; where there is no exclusive value,
  // there is nothing of its own
  const own = metric && ['inclusive', 'exclusive'].includes(metric.kind) ? 'n.exclusive' : 'n.inclusive';
  // HPCToolkit's loops and lines have what their function has once more
  const isNested = input.format?.startsWith('hpctoolkit')
    ? "\n    and c.region not in (select id from region where kind in ('loop', 'line'))"
    : '';
  const examples: (Example | false)[] = [
    has.tree && {
      title: 'Functions with most time of their own',
      statement: `with own as (\n  select c.name, sum(${own}) as own, count(*) as call_paths\n  from node n join context c on c.id = n.context\n  where n.metric = ${of}\n    and ${own} is not null${isNested} group by c.name)\nselect name, own, round(100.0 * own / sum(own) over (), 1) as percent, call_paths\nfrom own order by own desc limit 20`,
    },
    has.tree && {
      title: 'The largest call paths',
      statement: `select c.path, n.inclusive, n.exclusive, n.context\nfrom node n join context c on c.id = n.context\nwhere n.metric = ${of}\norder by n.inclusive desc limit 20`,
    },
    has.locations > 1 && {
      title: 'Imbalance between locations',
      statement: `select c.path, count(*) as locations, avg(v.value) as mean, max(v.value) as largest,\n  round(max(v.value) / avg(v.value), 3) as imbalance, v.context\nfrom value v join context c on c.id = v.context\nwhere v.metric = ${of} and v.location is not null\ngroup by v.context having count(*) > 1 and avg(v.value) > 0\norder by largest - mean desc limit 20`,
    },
    has.points > 1 && {
      title: 'Means at all points of the largest call paths',
      statement: `select p.label, c.path, m.mean, m.std, m.repetitions, m.context\nfrom measurement m join point p on p.id = m.point join context c on c.id = m.context\nwhere m.metric = ${of} and c.id in (\n  select context from measurement where metric = ${of}\n  group by context order by max(mean) desc limit 5)\norder by c.id, p.id`,
    },
    has.points > 1 && {
      title: 'The noisiest measurements',
      statement: `select c.path, p.label, m.mean, m.std, round(100 * m.std / m.mean, 2) as percent, m.repetitions\nfrom measurement m join point p on p.id = m.point join context c on c.id = m.context\nwhere m.metric = ${of} and m.mean > 0\norder by percent desc limit 20`,
    },
    has.parameters.length > 0 && {
      title: 'Points and their coordinates',
      statement:
        'select p.id, p.label, q.name as parameter, x.value\nfrom point p join coordinate x on x.point = p.id join parameter q on q.id = x.parameter\norder by p.id, q.id',
    },
    events && {
      title: 'Kinds of events',
      statement:
        'select kind, count(*) as n, sum(end - start) as seconds, min(end - start) as shortest, max(end - start) as longest\nfrom event group by kind order by n desc',
    },
    events && {
      title: 'The longest intervals',
      statement:
        'select name, kind, start, end - start as seconds, location, context\nfrom event where end is not null\norder by seconds desc limit 50',
    },
    events && {
      title: 'Events over time',
      statement:
        'select round(start / w.width) * w.width as time, count(*) as events\nfrom event, (select max(max(start) / 100, 1e-9) as width from event) w\ngroup by 1 order by 1',
    },
    events && {
      title: 'What each location does most',
      statement:
        'select l.name as location, e.name, count(*) as n, sum(e.end - e.start) as seconds\nfrom event e join location l on l.id = e.location\ngroup by l.id, e.name order by l.id, n desc limit 100',
    },
    input.format === 'nsight' && {
      title: 'Speed of copies',
      statement:
        "select e.name, count(*) as copies, sum(b.value) as bytes, round(sum(b.value) / sum(e.end - e.start) / 1e9, 2) as gb_per_s\nfrom event e join attribute b on b.owner = 'event' and b.owner_id = e.id and b.key = 'bytes'\nwhere e.kind = 'memcpy' group by e.name",
    },
    has.models > 0 && {
      title: 'Models that the file stores',
      statement:
        'select c.path, m.name as metric, f.function, f.AR2, f.SMAPE\nfrom model f join context c on c.id = f.context join metric m on m.id = f.metric\norder by m.id, c.id limit 100',
    },
    { title: 'Metrics', statement: 'select id, name, unit, dtype, kind, description from metric' },
    has.locations > 0 && {
      title: 'Locations',
      statement:
        'select l.id, l.kind, l.name, l.rank, p.name as part_of\nfrom location l left join location p on p.id = l.parent\norder by l.id limit 1000',
    },
    {
      title: 'Runs and what is known of them',
      statement:
        "select r.id, r.point, r.repetition, r.source, r.start_time, a.key, a.value\nfrom run r left join attribute a on a.owner = 'run' and a.owner_id = r.id\norder by r.id, a.key limit 1000",
    },
    {
      title: 'Attributes and tags',
      statement:
        'select owner, key, count(*) as n, count(distinct value) as "values", min(value) as one\nfrom attribute group by owner, key order by owner, n desc',
    },
    {
      title: 'What was odd while reading',
      statement: 'select severity, rule, file, line, message from problem limit 1000',
    },
  ];
  return examples.filter((e): e is Example => e !== false);
}

// ---- places of errors

/** From … to of the text, where the error is: the word there. Lines and columns count characters from 1. */
export function errorRange(text: string, { line, column }: Failure): [number, number] | null {
  if (!line || !column) return null;
  let at = 0;
  for (let i = 1; i < line; i++) {
    at = text.indexOf('\n', at) + 1;
    if (at === 0) return null;
  }
  for (let i = 1; i < column && at < text.length; i++) at += (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
  const word = /^[\p{L}\p{N}_.]+|^./u.exec(text.slice(at));
  return [at, Math.min(text.length, at + (word?.[0].length ?? 1))];
}

// ---- cells

export const isNumeric = (type: Type | undefined): boolean => type === 'integer' || type === 'real';

/** What is shown: NULL, integers with all digits, reals with ten. */
export function cellText(cell: Cell): string {
  if (cell === null) return 'NULL';
  if (typeof cell === 'string' || Number.isInteger(cell)) return String(cell);
  return String(Number(cell.toPrecision(10)));
}

/** NULL last, whatever the order; integers beyond 2^53 come as text. */
export function compareCells(a: Cell, b: Cell, type: Type | undefined, isDescending: boolean): number {
  if (a === null || b === null) return a === b ? 0 : a === null ? 1 : -1;
  let order: number;
  if (type === 'integer' && (typeof a === 'string' || typeof b === 'string')) {
    const [x, y] = [BigInt(a), BigInt(b)];
    order = x < y ? -1 : x > y ? 1 : 0;
  } else if (isNumeric(type)) order = real(a) - real(b) || 0;
  else if (typeof a !== typeof b) order = typeof a === 'number' ? -1 : 1;
  else order = a < b ? -1 : a > b ? 1 : 0;
  return isDescending ? -order : order;
}

/** Rows in the order of a column; equal ones stay as they are. */
export function sortRows(result: Result, column: number, isDescending: boolean): Cell[][] {
  return [...result.rows].sort((a, b) =>
    compareCells(a[column] ?? null, b[column] ?? null, result.types[column], isDescending),
  );
}

/** An array of objects; a second column of one name is "name:1". */
export function resultJson({ columns, rows }: Result): string {
  const names: string[] = [];
  for (const name of columns) {
    let unique = name;
    for (let i = 1; names.includes(unique); i++) unique = `${name}:${i}`;
    names.push(unique);
  }
  return `${JSON.stringify(
    rows.map((row) => Object.fromEntries(names.map((name, i) => [name, row[i] ?? null]))),
    null,
    1,
  )}\n`;
}

// ---- charts

export type ChartKind = 'line' | 'bar' | 'scatter';
const MOST_SERIES = 8;
const MOST_LABELS = 2000;

export interface Chart {
  /** Names where x is no number. */
  labels: string[] | null;
  x: number[];
  series: { name: string; y: (number | null)[] }[];
  /** Groups, or rows, that are not drawn. */
  left: number;
}

/** Which columns a chart begins with: the first text or number against the first other number. */
export function guessChart(result: Result): { x: string; y: string; group: string; kind: ChartKind } | null {
  const y = result.columns.findIndex(
    (name, i) =>
      isNumeric(result.types[i]) && i > 0 && !['id', 'context', 'location', 'run', 'metric', 'point'].includes(name),
  );
  const fallback = result.types.findIndex((type) => isNumeric(type));
  const chosen = y >= 0 ? y : fallback;
  if (chosen < 0 || result.rows.length === 0) return null;
  const x = result.columns.findIndex((_, i) => i !== chosen);
  if (x < 0) return null;
  const isNumber = isNumeric(result.types[x]);
  const distinct = new Set(result.rows.map((row) => row[x]));
  // Several rows for each x: another column tells them apart
  const group =
    distinct.size < result.rows.length
      ? result.columns.findIndex((_, i) => i !== x && i !== chosen && result.types[i] === 'text')
      : -1;
  return {
    x: result.columns[x]!,
    y: result.columns[chosen]!,
    group: group >= 0 ? result.columns[group]! : '',
    kind: isNumber || group >= 0 ? 'line' : 'bar',
  };
}

export function makeChart(result: Result, x: string, y: string, group: string): Chart | null {
  const [ix, iy, ig] = [result.columns.indexOf(x), result.columns.indexOf(y), result.columns.indexOf(group)];
  if (ix < 0 || iy < 0) return null;
  const isNumber = isNumeric(result.types[ix]);
  const rows = result.rows.filter(
    (row) => Number.isFinite(real(row[iy])) && (!isNumber || Number.isFinite(real(row[ix]))),
  );
  const labels = isNumber ? null : [...new Set(rows.map((row) => cellText(row[ix] ?? null)))].slice(0, MOST_LABELS);
  const place = new Map(labels?.map((label, i) => [label, i]));
  const at = (row: Cell[]) => (isNumber ? real(row[ix]) : (place.get(cellText(row[ix] ?? null)) ?? -1));
  const sorted = rows
    .map((row) => [at(row), row] as const)
    .filter(([i]) => isNumber || i >= 0)
    .sort(([a], [b]) => a - b);
  const names = ig < 0 ? [y] : [...new Set(sorted.map(([, row]) => cellText(row[ig] ?? null)))];
  const shown = names.slice(0, MOST_SERIES);
  const numbers = new Map(shown.map((name, i) => [name, i]));
  const series = shown.map((name) => ({ name, y: [] as (number | null)[] }));
  const xs: number[] = [];
  for (const [value, row] of sorted) {
    const number = ig < 0 ? 0 : numbers.get(cellText(row[ig] ?? null));
    if (number === undefined) continue;
    // Rows of other groups at the same x share a place, so that bars stand together
    const isShared = xs.length > 0 && xs[xs.length - 1] === value && series[number]!.y[xs.length - 1] === null;
    if (!isShared) {
      xs.push(value);
      for (const s of series) s.y.push(null);
    }
    series[number]!.y[xs.length - 1] = real(row[iy]);
  }
  return { labels, x: xs, series, left: ig < 0 ? result.rows.length - sorted.length : names.length - shown.length };
}
