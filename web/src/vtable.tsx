// A table of any number of rows: only those in sight are in the page. With `tree` it is a tree grid. Rows have one height (--row, style.css).
import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { useSize } from './canvas';
import { openMenu, type MenuEntry } from './menu';
import { copyText } from './toast';

export interface Column<R> {
  id: string;
  title: string;
  /** Shown after the title. */
  unit?: string;
  /** Pixels, or a share of what is left: "1fr". */
  width: number | `${number}fr`;
  align?: 'right';
  cell: (row: R, index: number) => ComponentChildren;
  /** What is copied, and shown when the pointer rests: exact, not rounded. */
  text: (row: R) => string;
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
  empty?: ComponentChildren;
}

/** Browsers cannot scroll further than some millions of pixels: longer tables scroll in proportion. */
const MOST_PIXELS = 8e6;
const EXTRA_ROWS = 6;
const COPIED_ROWS = 10000;

function csvCell(text: string): string {
  return /[",\n\r]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
}

/** The rows as CSV, or as a table of Markdown. */
export function tableText<R>(columns: readonly Column<R>[], rows: readonly R[], format: 'csv' | 'markdown'): string {
  const titles = columns.map((c) => (c.unit ? `${c.title} (${c.unit})` : c.title));
  const lines = rows.map((row) => columns.map((c) => c.text(row)));
  if (format === 'csv') return [titles, ...lines].map((cells) => `${cells.map(csvCell).join(',')}\n`).join('');
  const line = (cells: string[]) => `| ${cells.map((c) => c.replace(/\|/g, '\\|').replace(/[\n\r]+/g, ' ')).join(' | ')} |\n`;
  return line(titles) + `|${columns.map((c) => (c.align ? ' ---: ' : ' --- ')).join('|')}|\n` + lines.map(line).join('');
}

export function VTable<R>(props: VTableProps<R>) {
  const { label, rowCount, selected = -1, tree, sort } = props;
  const columns = props.columns.filter((c) => !props.hidden?.includes(c.id));
  const [box, size] = useSize<HTMLDivElement>();
  const [rowHeight, setRowHeight] = useState(24);
  const [offset, setOffset] = useState(0);
  const ignore = useRef(-1);
  const id = useRef(`t${Math.random().toString(36).slice(2, 8)}`).current;

  useLayoutEffect(() => {
    const text = box.current && getComputedStyle(box.current).getPropertyValue('--row');
    if (text) setRowHeight(parseFloat(text) || 24);
  }, []);

  const total = rowCount * rowHeight;
  const shown = Math.min(total, MOST_PIXELS);
  const inSight = Math.max(0, size.height - rowHeight);
  const ratio = shown > inSight ? (total - inSight) / (shown - inSight) : 1;
  const most = Math.max(0, total - inSight);
  const top = Math.min(offset, most);
  const first = Math.max(0, Math.floor(top / rowHeight) - EXTRA_ROWS);
  const last = Math.min(rowCount - 1, Math.ceil((top + inSight) / rowHeight) + EXTRA_ROWS);

  const scrollTo = (next: number) => {
    const to = Math.max(0, Math.min(most, next));
    setOffset(to);
    if (!box.current) return;
    box.current.scrollTop = to / ratio;
    ignore.current = box.current.scrollTop;
  };
  const onScroll = () => {
    const at = box.current?.scrollTop ?? 0;
    if (Math.abs(at - ignore.current) < 1) return;
    ignore.current = -1;
    setOffset(at * ratio);
  };
  const onWheel = (event: WheelEvent) => {
    if (ratio <= 1 || event.ctrlKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) return;
    event.preventDefault();
    scrollTo(top + event.deltaY * (event.deltaMode === 1 ? rowHeight : 1));
  };
  const wheel = useRef(onWheel);
  wheel.current = onWheel;
  useEffect(() => {
    const element = box.current;
    const listener = (event: WheelEvent) => wheel.current(event);
    element?.addEventListener('wheel', listener, { passive: false });
    return () => element?.removeEventListener('wheel', listener);
  }, []);
  useEffect(() => {
    if (last >= first) props.onVisible?.(first, last);
  }, [first, last, rowCount]);
  useEffect(() => {
    if (selected < 0 || inSight <= 0) return;
    if (selected * rowHeight < top) scrollTo(selected * rowHeight);
    else if ((selected + 1) * rowHeight > top + inSight) scrollTo((selected + 1) * rowHeight - inSight);
  }, [selected, inSight > 0]);

  const move = (to: number) => props.onSelect?.(Math.max(0, Math.min(rowCount - 1, to)));
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey || rowCount === 0) return;
    const page = Math.max(1, Math.floor(inSight / rowHeight) - 1);
    switch (event.key) {
      case 'ArrowDown': move(selected + 1); break;
      case 'ArrowUp': move(selected < 0 ? 0 : selected - 1); break;
      case 'PageDown': move(selected + page); break;
      case 'PageUp': move(selected - page); break;
      case 'Home': move(0); break;
      case 'End': move(rowCount - 1); break;
      case 'ArrowRight':
        if (!tree || selected < 0 || !tree.isExpandable(selected)) return;
        if (tree.isExpanded(selected)) move(selected + 1);
        else tree.toggle(selected);
        break;
      case 'ArrowLeft':
        if (!tree || selected < 0) return;
        if (tree.isExpandable(selected) && tree.isExpanded(selected)) tree.toggle(selected);
        else if (tree.parent(selected) >= 0) move(tree.parent(selected));
        break;
      case 'Enter':
        if (selected < 0) return;
        if (props.onOpen) props.onOpen(selected);
        else if (tree?.isExpandable(selected)) tree.toggle(selected);
        break;
      default: return;
    }
    event.preventDefault();
    event.stopPropagation();
  };

  const copy = (format: 'csv' | 'markdown') => {
    const rows: R[] = [];
    for (let i = 0; i < rowCount && rows.length < COPIED_ROWS; i++) {
      const row = props.row(i);
      if (row !== undefined) rows.push(row);
    }
    void copyText(tableText(columns, rows, format), `Copied ${rows.length} rows as ${format === 'csv' ? 'CSV' : 'Markdown'}`);
  };
  const headMenu = (event: MouseEvent) =>
    openMenu(event, () => [
      { label: 'Copy as CSV', run: () => copy('csv') },
      { label: 'Copy as Markdown', run: () => copy('markdown') },
      ...(props.onHidden ? (['line'] as MenuEntry[]) : []),
      ...(props.onHidden
        ? props.columns.filter((c) => !c.fixed).map((c): MenuEntry => ({
            label: c.title,
            checked: !hiddenNow.current.includes(c.id),
            run: () => props.onHidden?.(hiddenNow.current.includes(c.id) ? hiddenNow.current.filter((h) => h !== c.id) : [...hiddenNow.current, c.id]),
          }))
        : []),
    ]);
  const hiddenNow = useRef<readonly string[]>([]);
  hiddenNow.current = props.hidden ?? [];

  const rows = [];
  for (let i = first; i <= last; i++) rows.push(i);
  return (
    <div
      ref={box}
      class="vtable"
      role={tree ? 'treegrid' : 'grid'}
      aria-label={label}
      aria-rowcount={rowCount + 1}
      aria-colcount={columns.length}
      aria-activedescendant={selected >= first && selected <= last ? `${id}-${selected}` : undefined}
      tabIndex={0}
      onScroll={onScroll}
      onKeyDown={onKeyDown}
      style={{ '--columns': columns.map((c) => (typeof c.width === 'number' ? `${c.width}px` : `minmax(120px, ${c.width})`)).join(' ') }}
    >
      <div class="vrow vhead" role="row" aria-rowindex={1} onContextMenu={headMenu}>
        {columns.map((c, i) => (
          <Head key={c.id} column={c} index={i} sort={sort} onSort={props.onSort} menu={i === columns.length - 1 ? headMenu : undefined} />
        ))}
      </div>
      <div class="vbody" role="rowgroup" style={{ height: `${shown}px` }}>
        {rows.map((i) => {
          const row = props.row(i);
          const extra = props.rowClass?.(i);
          return (
            <div
              key={props.rowKey?.(i) ?? i}
              id={`${id}-${i}`}
              role="row"
              aria-rowindex={i + 2}
              aria-selected={i === selected}
              aria-level={tree ? tree.level(i) + 1 : undefined}
              aria-expanded={tree?.isExpandable(i) ? tree.isExpanded(i) : undefined}
              class={`vrow${i === selected ? ' selected' : ''}${extra ? ` ${extra}` : ''}`}
              style={{ transform: `translateY(${Math.round(i * rowHeight - top + top / ratio)}px)` }}
              onMouseDown={(event) => event.button === 0 && props.onSelect?.(i)}
              onDblClick={() => props.onOpen?.(i)}
              onContextMenu={(event) => {
                if (!props.rowMenu) return;
                props.onSelect?.(i);
                openMenu(event, props.rowMenu(i));
              }}
            >
              {columns.map((c) => (
                <div key={c.id} role="gridcell" class={c.align ? 'vcell right' : 'vcell'} title={row === undefined ? undefined : c.text(row)}>
                  {row === undefined ? <span class="waiting" /> : c.cell(row, i)}
                </div>
              ))}
            </div>
          );
        })}
      </div>
      {rowCount === 0 && <div class="vempty">{props.empty ?? 'Nothing to show'}</div>}
    </div>
  );
}

interface HeadProps<R> {
  column: Column<R>;
  index: number;
  sort: Sort | undefined;
  onSort: ((sort: Sort) => void) | undefined;
  menu: ((event: MouseEvent) => void) | undefined;
}

function Head<R>({ column, index, sort, onSort, menu }: HeadProps<R>) {
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
    <div role="columnheader" aria-colindex={index + 1} aria-sort={order} class={column.align ? 'vcell right' : 'vcell'}>
      {column.sortable && onSort ? (
        <button class="head" onClick={() => onSort({ column: column.id, descending: isSorted ? !sort.descending : column.align === 'right' })}>
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
    <span class="tree-cell" style={{ paddingLeft: `${tree.level(index) * 14}px` }}>
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
