// Parts of the page alone, for tests/browser/parts.test.ts.
import { render } from 'preact';
import { useCallback, useState } from 'preact/hooks';
import { Canvas, fitText } from '../src/canvas';
import { colorOfName, css, inkOn, seriesColor } from '../src/colors';
import { formatCount } from '../src/format';
import { followKeys } from '../src/keys';
import { MenuHost } from '../src/menu';
import { axis, Plot } from '../src/plot';
import { followAddress } from '../src/state';
import { followTheme } from '../src/theme';
import { ToastHost } from '../src/toast';
import { BarCell, TreeCell, VTable, type Column, type Sort, type TreeShape } from '../src/vtable';

const ROWS = 1_000_000;

function Long() {
  const [selected, setSelected] = useState(0);
  const [sort, setSort] = useState<Sort>({ column: 'i', descending: false });
  const [hidden, setHidden] = useState<string[]>([]);
  const value = (i: number) => (sort.descending ? ROWS - 1 - i : i);
  const columns: Column<number>[] = [
    { id: 'name', title: 'Name', width: '1fr', fixed: true, cell: (n) => `row ${n}`, text: (n) => `row ${n}` },
    {
      id: 'i',
      title: 'Number',
      unit: 'occ',
      width: 140,
      align: 'right',
      sortable: true,
      cell: (n) => <BarCell text={formatCount(n)} share={n / ROWS} />,
      text: String,
    },
    {
      id: 'square',
      title: 'Square',
      width: 160,
      align: 'right',
      cell: (n) => formatCount(n * n),
      text: (n) => String(n * n),
    },
  ];
  return (
    <VTable
      label="Long"
      columns={columns}
      rowCount={ROWS}
      row={value}
      sort={sort}
      onSort={setSort}
      selected={selected}
      onSelect={setSelected}
      hidden={hidden}
      onHidden={setHidden}
    />
  );
}

/** A row has its level and name; those with "+" are open. */
function Branches() {
  const [open, setOpen] = useState(true);
  const [selected, setSelected] = useState(0);
  const rows = open ? ['main', 'solve', 'print'] : ['main'];
  const tree: TreeShape = {
    level: (i) => (i === 0 ? 0 : 1),
    isExpandable: (i) => i === 0,
    isExpanded: () => open,
    toggle: () => setOpen(!open),
    parent: (i) => (i === 0 ? -1 : 0),
  };
  const columns: Column<string>[] = [
    {
      id: 'name',
      title: 'Name',
      width: '1fr',
      cell: (name, i) => (
        <TreeCell tree={tree} index={i}>
          {name}
        </TreeCell>
      ),
      text: (name) => name,
    },
  ];
  return (
    <VTable
      label="Branches"
      columns={columns}
      rowCount={rows.length}
      row={(i) => rows[i]}
      selected={selected}
      onSelect={setSelected}
      tree={tree}
    />
  );
}

function Gallery() {
  const draw = useCallback(
    (context: CanvasRenderingContext2D, { width, height }: { width: number; height: number }, dark: boolean) => {
      const n = 12;
      context.font = '12px sans-serif';
      context.textBaseline = 'middle';
      for (let i = 0; i < n; i++) {
        const color = colorOfName(`function_${i}`, dark);
        context.fillStyle = css(color);
        context.fillRect((i * width) / n, 0, width / n - 1, height);
        context.fillStyle = inkOn(color);
        context.fillText(fitText(context, `function_${i}`, width / n - 8), (i * width) / n + 4, height / 2);
      }
    },
    [],
  );
  const xs = Array.from({ length: 50 }, (_, i) => i);
  return (
    <div class="fill">
      <div class="fill" style={{ height: '360px' }}>
        <Long />
      </div>
      <div class="fill" style={{ height: '120px' }}>
        <Branches />
      </div>
      <Canvas draw={draw} label="Colours" height={40} />
      <Plot
        label="Lines"
        height={220}
        data={[xs, xs.map((x) => x * x), xs.map((x) => x * 40)]}
        options={(dark) => ({
          series: [{}, { stroke: seriesColor(0, dark) }, { stroke: seriesColor(1, dark) }],
          axes: [axis(), axis()],
          scales: { x: { time: false } },
        })}
      />
      <MenuHost />
      <ToastHost />
    </div>
  );
}

followTheme();
followAddress();
followKeys();
render(<Gallery />, document.getElementById('app')!);
