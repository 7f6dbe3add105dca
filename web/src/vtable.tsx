// A table of any number of rows: only those in sight are in the page. With `tree` it is a tree grid. Rows have one
// height (--row, style.css).
import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { useSize, useWheel } from './canvas';
import { exactValue, formatCount, type Num } from './format';
import { isField } from './keys';
import { openMenu, type MenuEntry } from './menu';
import { useIsOnPaper } from './state';
import { copyText } from './toast';

export interface Column<R> {
  id: string;
  title: string;
  /** Shown after the title. */
  unit?: string;
  /** Pixels, or a share of what is left: "1fr". */
  width: number | `${number}fr`;
  /** Wider where there is room: its bars say more. */
  grows?: boolean;
  /** Of a share: pixels that it has at least. */
  least?: number;
  align?: 'right';
  cell: (row: R, index: number) => ComponentChildren;
  /** What is copied, and shown when the pointer rests: exact, not rounded. */
  text: (row: R) => string;
  /** What is copied instead, in rawUnit: a number that programs read. */
  raw?: (row: R) => Num | undefined;
  rawUnit?: string | null;
  sortable?: boolean;
  /** The chooser cannot hide it. */
  fixed?: boolean;
}

export interface Sort {
  column: string;
  descending: boolean;
}

export interface TreeShape {
  /** 0 for the roots. */
  level: (index: number) => number;
  isExpandable: (index: number) => boolean;
  isExpanded: (index: number) => boolean;
  toggle: (index: number) => void;
  /** Which one of how many it is, of those below the same parent. */
  among?: (index: number) => [number, number];
  /** Index of the parent; -1 of a root. */
  parent: (index: number) => number;
}

export interface VTableProps<R> {
  label: string;
  columns: Column<R>[];
  rowCount: number;
  /** undefined: not there yet; onVisible says what to get. */
  row: (index: number) => R | undefined;
  rowKey?: (index: number) => string | number;
  onVisible?: (first: number, last: number) => void;
  sort?: Sort;
  onSort?: (sort: Sort) => void;
  selected?: number;
  onSelect?: (index: number) => void;
  /** Enter or double click. */
  onOpen?: (index: number) => void;
  rowMenu?: (index: number) => MenuEntry[];
  rowClass?: (index: number) => string | undefined;
  tree?: TreeShape;
  /** Ids of hidden columns, and what to do when another is chosen. */
  hidden?: readonly string[];
  onHidden?: (hidden: string[]) => void;
  /**
   * Ids of columns in the order in which they are shown, those that are not named behind them; heads can then be
   * dragged. Fixed columns stay.
   */
  order?: readonly string[];
  onOrder?: (order: string[]) => void;
  empty?: ComponentChildren;
}

/** Browsers cannot scroll further than some millions of pixels: longer tables scroll in proportion. */
const MOST_PIXELS = 8e6;
const EXTRA_ROWS = 6;
const COPIED_ROWS = 10000;
const leastOf = <R,>({ width, least }: Column<R>): number => (typeof width === 'number' ? width : (least ?? 180));
/** What fits on a sheet. */
const [PAPER_ROWS, PAPER_WIDTH] = [30, 690];
let nextTable = 0;

function csvCell(text: string): string {
  return /[",\n\r]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
}

/** 15 digits: what sums have behind them is rounding. */
const rawText = (n: Num | undefined): string =>
  typeof n === 'number'
    ? Number.isNaN(n)
      ? ''
      : String(Number.isSafeInteger(n) ? n : Number(n.toPrecision(15)))
    : n === 'nan'
      ? ''
      : (n ?? '');

/** A value of a unit, as tooltips have it and as it is copied. */
export const exactly = <R,>(
  unit: string | null,
  of: (row: R) => Num | undefined,
): Pick<Column<R>, 'raw' | 'rawUnit' | 'text'> => ({
  raw: of,
  rawUnit: unit,
  text: (row) => exactValue(unit, of(row)),
});

/** The rows as CSV, or as a table of Markdown; those of a tree with their levels. */
export function tableText<R>(
  columns: readonly Column<R>[],
  rows: readonly R[],
  format: 'csv' | 'markdown',
  levels?: readonly number[],
): string {
  const titles = columns.map((c, i) => {
    const unit = c.raw ? c.rawUnit : c.unit;
    return `${c.title === '%' ? `${columns[i - 1]?.title} ` : ''}${c.title}${unit && !c.title.endsWith(`(${unit})`) ? ` (${unit})` : ''}`;
  });
  const lines = rows.map((row) => columns.map((c) => (c.raw ? rawText(c.raw(row)) : c.text(row))));
  levels?.forEach((level, i) =>
    format === 'csv' ? lines[i]!.unshift(String(level)) : (lines[i]![0] = '\u00a0\u00a0'.repeat(level) + lines[i]![0]),
  );
  if (levels && format === 'csv') titles.unshift('Level');
  if (format === 'csv') return [titles, ...lines].map((cells) => `${cells.map(csvCell).join(',')}\n`).join('');
  const line = (cells: string[]) =>
    `| ${cells.map((c) => c.replace(/\|/g, '\\|').replace(/[\n\r]+/g, ' ')).join(' | ')} |\n`;
  return (
    line(titles) + `|${columns.map((c) => (c.align ? ' ---: ' : ' --- ')).join('|')}|\n` + lines.map(line).join('')
  );
}

interface Scroll {
  /** Height of the body, as the browser scrolls it. */
  shown: number;
  /** Pixels that rows are moved by where the browser's own scrolling is not enough. */
  shift: number;
  first: number;
  last: number;
  inSight: number;
  onScroll: () => void;
}

/**
 * Which rows are in sight. Long tables scroll in proportion; the wheel moves as many rows as ever. key: of the selected
 * row.
 */
function useScroll(
  box: { current: HTMLDivElement | null },
  height: number,
  rowCount: number,
  rowHeight: number,
  selected: number,
  key: string | number,
): Scroll {
  const [offset, setOffset] = useState(0);
  const own = useRef(-1); // where this put the scroll bar: no news
  const total = rowCount * rowHeight;
  const shown = Math.min(total, MOST_PIXELS);
  const inSight = Math.max(0, height - rowHeight);
  const most = Math.max(0, total - inSight);
  const ratio = shown > inSight ? most / (shown - inSight) : 1;
  const top = Math.min(offset, most);
  const scrollTo = (next: number) => {
    const to = Math.max(0, Math.min(most, next));
    setOffset(to);
    if (!box.current) return;
    box.current.scrollTop = to / ratio;
    own.current = box.current.scrollTop;
  };
  const onWheel = (event: WheelEvent) => {
    if (ratio <= 1 || event.ctrlKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) return;
    event.preventDefault();
    scrollTo(top + event.deltaY * (event.deltaMode === 1 ? rowHeight : 1));
  };
  useWheel(box, onWheel);
  const before = useRef({ key, selected: -1, rowCount });
  useEffect(() => {
    const last = before.current;
    before.current = { key, selected, rowCount };
    if (selected < 0 || inSight <= 0) return;
    // The same one elsewhere: rows came or went above it, or another order, which is followed where it was in sight
    const wasSeen = (last.selected + 1) * rowHeight > top && last.selected * rowHeight < top + inSight;
    if (last.key === key && last.selected >= 0 && (last.rowCount !== rowCount || !wasSeen)) return;
    if (selected * rowHeight < top) scrollTo(selected * rowHeight);
    else if ((selected + 1) * rowHeight > top + inSight) scrollTo((selected + 1) * rowHeight - inSight);
  }, [selected, key, inSight > 0]);
  return {
    shown,
    shift: top / ratio - top,
    first: Math.max(0, Math.floor(top / rowHeight) - EXTRA_ROWS),
    last: Math.min(rowCount - 1, Math.ceil((top + inSight) / rowHeight) + EXTRA_ROWS),
    inSight,
    onScroll: () => {
      const at = box.current?.scrollTop ?? 0;
      if (Math.abs(at - own.current) < 1) return;
      own.current = -1;
      setOffset(at * ratio);
    },
  };
}

/** What a key does in the table; false: nothing. */
function pressed<R>(
  key: string,
  { rowCount, selected = -1, tree, onOpen, onSelect }: VTableProps<R>,
  page: number,
): boolean {
  const move = (to: number) => {
    onSelect?.(Math.max(0, Math.min(rowCount - 1, to)));
    return true;
  };
  const toggle = () => {
    tree?.toggle(selected);
    return true;
  };
  const canOpen = selected >= 0 && (tree?.isExpandable(selected) ?? false);
  const isOpen = canOpen && (tree?.isExpanded(selected) ?? false);
  switch (key) {
    case 'ArrowDown':
      return move(selected + 1);
    case 'ArrowUp':
      return move(selected - 1);
    case 'PageDown':
      return move(selected + page);
    case 'PageUp':
      return move(selected - page);
    case 'Home':
      return move(0);
    case 'End':
      return move(rowCount - 1);
    case 'ArrowRight':
      return canOpen && (isOpen ? move(selected + 1) : toggle());
    case 'ArrowLeft': {
      if (isOpen) return toggle();
      const parent = selected >= 0 && tree ? tree.parent(selected) : -1;
      return parent >= 0 && move(parent);
    }
    case 'Enter':
      if (selected < 0 || !onOpen) return canOpen && toggle();
      onOpen(selected);
      return true;
    default:
      return false;
  }
}

function visibleColumns<R>({ columns, hidden, order }: VTableProps<R>): Column<R>[] {
  const shown = columns.filter((c) => !hidden?.includes(c.id));
  if (!order || order.length === 0) return shown;
  const place = (c: Column<R>) => (c.fixed ? -1 : order.includes(c.id) ? order.indexOf(c.id) : order.length);
  return shown
    .map((c, i) => [c, place(c), i] as const)
    .sort((a, b) => a[1] - b[1] || a[2] - b[2])
    .map(([c]) => c);
}

/** As many of them as there is room for. */
function columnsOnPaper<R>(columns: Column<R>[]): Column<R>[] {
  let width = 0;
  return columns.filter((c) => (width += leastOf(c)) <= PAPER_WIDTH);
}

/** The ids with one of them moved to the place of another. */
export function moved(ids: readonly string[], from: string, to: string): string[] {
  const [a, b] = [ids.indexOf(from), ids.indexOf(to)];
  if (a < 0 || b < 0 || a === b) return [...ids];
  const rest = ids.filter((id) => id !== from);
  rest.splice(b, 0, from);
  return rest;
}

export function copyRows<R>(props: VTableProps<R>, format: 'csv' | 'markdown'): void {
  const rows: R[] = [];
  const levels: number[] = [];
  for (let i = 0; i < props.rowCount && rows.length < COPIED_ROWS; i++) {
    const row = props.row(i);
    if (row === undefined) continue;
    rows.push(row);
    levels.push(props.tree?.level(i) ?? 0);
  }
  const of = rows.length < props.rowCount ? ` of ${formatCount(props.rowCount)}` : '';
  void copyText(
    tableText(visibleColumns(props), rows, format, props.tree && levels),
    `Copied ${formatCount(rows.length)}${of} rows as ${format === 'csv' ? 'CSV' : 'Markdown'}`,
  );
}

/** Copying, and which columns are there. The table may change while the menu is open: now() is what it is. */
function headMenu<R>(now: () => VTableProps<R>): MenuEntry[] {
  const { columns, hidden = [], onHidden } = now();
  const { order = [], onOrder } = now();
  const entries: MenuEntry[] = [
    ...(onOrder && order.length > 0 ? [{ label: 'Columns in their usual order', run: () => onOrder([]) }] : []),
    { label: 'Copy as CSV', run: () => copyRows(now(), 'csv') },
    { label: 'Copy as Markdown', run: () => copyRows(now(), 'markdown') },
  ];
  if (!onHidden) return entries;
  const choices = columns
    .filter((c) => !c.fixed)
    .map((c): MenuEntry => {
      const isHidden = hidden.includes(c.id);
      return {
        label: c.title,
        checked: !isHidden,
        run: () => onHidden(isHidden ? hidden.filter((h) => h !== c.id) : [...hidden, c.id]),
      };
    });
  return [...entries, 'line', ...choices];
}

export function VTable<R>(props: VTableProps<R>) {
  const { rowCount, selected = -1, tree } = props;
  const isOnPaper = useIsOnPaper();
  // The menu is above the last one: its numbers stand below its title
  const columns = isOnPaper
    ? columnsOnPaper(visibleColumns(props))
    : visibleColumns(props).map((c, i, all) =>
        c.align && i === all.length - 1 && typeof c.width === 'number' ? { ...c, width: c.width + 25 } : c,
      );
  const latest = useRef(props);
  latest.current = props;
  const [box, size] = useSize<HTMLDivElement>();
  const [rowHeight, setRowHeight] = useState(24);
  const id = useRef(`t${nextTable++}`).current;
  useLayoutEffect(() => {
    if (box.current) setRowHeight(parseFloat(getComputedStyle(box.current).getPropertyValue('--row')) || 24);
  }, []);
  const scroll = useScroll(
    box,
    size.height,
    rowCount,
    rowHeight,
    selected,
    selected < 0 ? -1 : (props.rowKey?.(selected) ?? selected),
  );
  const { first, last } = isOnPaper ? { first: 0, last: Math.min(rowCount, PAPER_ROWS) - 1 } : scroll;
  useEffect(() => {
    if (last >= first) props.onVisible?.(first, last);
  }, [first, last, rowCount]);

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey || rowCount === 0 || event.target !== box.current) return;
    if (!pressed(event.key, props, Math.max(1, Math.floor(scroll.inSight / rowHeight) - 1))) return;
    event.preventDefault();
    event.stopPropagation();
  };
  const menu = (event: MouseEvent) => openMenu(event, () => headMenu(() => latest.current));
  const rows = Array.from({ length: Math.max(0, last - first + 1) }, (_, i) => first + i);
  return (
    <div
      ref={box}
      class="vtable"
      role={tree ? 'treegrid' : 'grid'}
      aria-label={props.label}
      aria-rowcount={rowCount + 1}
      aria-colcount={columns.length}
      aria-activedescendant={selected >= first && selected <= last ? `${id}-${selected}` : undefined}
      tabIndex={0}
      onScroll={scroll.onScroll}
      onKeyDown={onKeyDown}
      style={{
        '--columns': columns
          .map((c) =>
            typeof c.width === 'number'
              ? c.grows
                ? `minmax(${c.width}px, .2fr)`
                : `${c.width}px`
              : `minmax(${leastOf(c)}px, ${c.width})`,
          )
          .join(' '),
        '--least': `${columns.reduce((sum, c) => sum + leastOf(c), 0)}px`,
      }}
    >
      <div class="vrow vhead" role="row" aria-rowindex={1} onContextMenu={menu}>
        {columns.map((c, i) => (
          <Head
            key={c.id}
            column={c}
            index={i}
            sort={props.sort}
            onSort={props.onSort}
            onMove={
              props.onOrder &&
              ((from) =>
                props.onOrder?.(
                  moved(
                    columns.filter((k) => !k.fixed).map((k) => k.id),
                    from,
                    c.id,
                  ),
                ))
            }
            menu={i === columns.length - 1 ? menu : undefined}
          />
        ))}
      </div>
      <div class="vbody" role="rowgroup" style={isOnPaper ? undefined : { height: `${scroll.shown}px` }}>
        {rows.map((i) => (
          <Row
            key={props.rowKey?.(i) ?? i}
            table={props}
            columns={columns}
            index={i}
            id={`${id}-${i}`}
            y={Math.round(i * rowHeight + scroll.shift)}
          />
        ))}
      </div>
      {isOnPaper && rowCount > PAPER_ROWS && (
        <p class="hint pad">{`${formatCount(rowCount - PAPER_ROWS)} more rows`}</p>
      )}
      {rowCount === 0 && <div class="vempty">{props.empty ?? 'Nothing to show'}</div>}
    </div>
  );
}

const cellClass = <R,>({ align, fixed }: Column<R>): string => `vcell${align ? ' right' : ''}${fixed ? ' fixed' : ''}`;

interface RowProps<R> {
  table: VTableProps<R>;
  columns: Column<R>[];
  index: number;
  id: string;
  y: number;
}

function Row<R>({ table, columns, index, id, y }: RowProps<R>) {
  const { tree } = table;
  const row = table.row(index);
  const isSelected = index === table.selected;
  const extra = table.rowClass?.(index);
  const among = tree?.among?.(index);
  return (
    <div
      id={id}
      role="row"
      aria-rowindex={index + 2}
      aria-selected={isSelected}
      aria-level={tree ? tree.level(index) + 1 : undefined}
      aria-posinset={among?.[0]}
      aria-setsize={among?.[1]}
      aria-expanded={tree?.isExpandable(index) ? tree.isExpanded(index) : undefined}
      class={`vrow${isSelected ? ' selected' : ''}${extra ? ` ${extra}` : ''}`}
      style={{ transform: `translateY(${y}px)` }}
      onMouseDown={(event) => event.button === 0 && table.onSelect?.(index)}
      onDblClick={() => table.onOpen?.(index)}
      onContextMenu={(event) => {
        if (!table.rowMenu) return;
        table.onSelect?.(index);
        openMenu(event, table.rowMenu(index));
      }}
    >
      {columns.map((c) => (
        <div key={c.id} role="gridcell" class={cellClass(c)} title={row === undefined ? undefined : c.text(row)}>
          {row === undefined ? <span class="waiting" /> : c.cell(row, index)}
        </div>
      ))}
    </div>
  );
}

interface HeadProps<R> {
  column: Column<R>;
  index: number;
  sort: Sort | undefined;
  onSort: ((sort: Sort) => void) | undefined;
  /** Another column was dropped here. */
  onMove: ((from: string) => void) | undefined;
  menu: ((event: MouseEvent) => void) | undefined;
}

function Head<R>({ column, index, sort, onSort, onMove, menu }: HeadProps<R>) {
  const canMove = onMove !== undefined && !column.fixed;
  const isSorted = sort?.column === column.id;
  const order = isSorted ? (sort.descending ? 'descending' : 'ascending') : undefined;
  const title = (
    <>
      <span class="ellipsis">{column.title}</span>
      {column.unit && <span class="unit">{column.unit}</span>}
      {isSorted && <span aria-hidden="true">{sort.descending ? '▾' : '▴'}</span>}
    </>
  );
  return (
    <div
      role="columnheader"
      aria-colindex={index + 1}
      aria-sort={order}
      class={cellClass(column)}
      draggable={canMove}
      onDragStart={(event) => event.dataTransfer?.setData('text/x-column', column.id)}
      onDragOver={(event) => canMove && event.dataTransfer?.types.includes('text/x-column') && event.preventDefault()}
      onDrop={(event) => {
        const from = event.dataTransfer?.getData('text/x-column');
        if (!from || !canMove) return;
        event.preventDefault();
        onMove(from);
      }}
    >
      {column.sortable && onSort ? (
        <button
          class="head"
          onClick={() =>
            onSort({ column: column.id, descending: isSorted ? !sort.descending : column.align === 'right' })
          }
        >
          {title}
        </button>
      ) : (
        <span class="head">{title}</span>
      )}
      {menu && (
        <button class="quiet more" aria-label="Columns and copying" onClick={menu}>
          ⋯
        </button>
      )}
    </div>
  );
}

export interface TreeCellProps {
  tree: TreeShape;
  index: number;
  children: ComponentChildren;
}

/** The first cell of a tree grid: indented, with the mark that opens and closes. */
export function TreeCell({ tree, index, children }: TreeCellProps) {
  const canOpen = tree.isExpandable(index);
  return (
    <span class="tree-cell" style={{ '--level': tree.level(index) }}>
      {canOpen ? (
        <span
          class={tree.isExpanded(index) ? 'twist open' : 'twist'}
          onMouseDown={(event) => {
            event.stopPropagation();
            tree.toggle(index);
          }}
        />
      ) : (
        <span class="twist none" />
      )}
      <span class="ellipsis">{children}</span>
    </span>
  );
}

/** A number with a bar behind it: share is 0 … 1 of the column's largest. */
export function BarCell({ text, share }: { text: string; share: number }) {
  return (
    <span class="bar-cell">
      <span class="bar" style={{ width: `${(Math.max(0, Math.min(1, share || 0)) * 100).toFixed(2)}%` }} />
      <span class="bar-text">{text}</span>
    </span>
  );
}

/** Arrows move in the table of a screen as soon as it is there; whoever types somewhere goes on typing. */
export function focusTable(box: HTMLElement | null): void {
  if (!isField(document.activeElement)) box?.querySelector<HTMLElement>('.vtable')?.focus({ preventScroll: true });
}
