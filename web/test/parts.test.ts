import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { colorOfName, css, diverging, hash, inkOn, sequential, type Rgb } from '../src/colors';
import { findKey, keyName, registerKeys } from '../src/keys';
import { filterChoices, matchScore, type Choice } from '../src/list';
import { commandLine, setReading } from '../src/screens/screen';
import { exactly, tableText, type Column } from '../src/vtable';

test('names of data are never markup', () => {
  const source = join(process.env['ASSAY_WEB'] ?? '.', 'src');
  const files = readdirSync(source, { recursive: true, encoding: 'utf8' } as { encoding: 'utf8' }).filter((f) =>
    /\.tsx?$/.test(f),
  );
  assert.ok(files.length > 10);
  for (const file of files) {
    const found =
      /dangerouslySetInnerHTML|innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function/.exec(
        readFileSync(join(source, file), 'utf8'),
      );
    assert.equal(found?.[0], undefined, file);
  }
});

test('CSV and Markdown are quoted', () => {
  const columns: Column<[string, number]>[] = [
    { id: 'n', title: 'Name', width: '1fr', cell: (r) => r[0], text: (r) => r[0] },
    { id: 'v', title: 'Time', unit: 's', width: 80, align: 'right', cell: (r) => r[1], text: (r) => String(r[1]) },
  ];
  const rows: [string, number][] = [
    ['f<int, "a">', 1.5],
    ['a|b\nc', 2],
  ];
  assert.equal(tableText(columns, rows, 'csv'), 'Name,Time (s)\n"f<int, ""a"">",1.5\n"a|b\nc",2\n');
  assert.equal(
    tableText(columns, rows, 'markdown'),
    '| Name | Time (s) |\n| --- | ---: |\n| f<int, "a"> | 1.5 |\n| a\\|b c | 2 |\n',
  );
});

test('numbers are copied as numbers, in the unit of the file, and trees with their levels', () => {
  type Row = [string, number | null];
  const columns: Column<Row>[] = [
    { id: 'n', title: 'Name', width: '1fr', cell: (r) => r[0], text: (r) => r[0] },
    {
      id: 'v',
      title: 'Inclusive',
      unit: 'ms',
      width: 80,
      align: 'right',
      cell: () => '',
      ...exactly<Row>('s', (r) => r[1]),
    },
    { id: 'p', title: '%', width: 80, align: 'right', cell: () => '', text: () => '50.0' },
    { id: 'c', title: 'CPUTIME (sec)', width: 80, align: 'right', cell: () => '', ...exactly<Row>('sec', (r) => r[1]) },
  ];
  // 0.1 + 0.2 is 0.30000000000000004 in binary
  const rows: Row[] = [
    ['main', 0.1 + 0.2],
    ['f', 1e-7],
    ['g', null],
    ['h', NaN],
  ];
  assert.equal(columns[1]!.text(['f', 0.25]), '0.25 s');
  assert.equal(
    tableText(columns, rows, 'csv', [0, 1, 2, 1]),
    'Level,Name,Inclusive (s),Inclusive %,CPUTIME (sec)\n0,main,0.3,50.0,0.3\n1,f,1e-7,50.0,1e-7\n2,g,,50.0,\n1,h,,50.0,\n',
  );
  assert.equal(
    tableText(columns, rows.slice(1, 2), 'markdown', [1]),
    '| Name | Inclusive (s) | Inclusive % | CPUTIME (sec) |\n| --- | ---: | ---: | ---: |\n| \u00a0\u00a0f | 1e-7 | 50.0 | 1e-7 |\n',
  );
});

test('keys are found, the newest first, and not while somebody types', () => {
  const nothing = () => undefined;
  const older = registerKeys('a', [
    { key: '1', label: 'old', run: nothing },
    { key: 'g t', label: 'tree', run: nothing },
    { key: 'Ctrl+K', label: 'all', run: nothing, inFields: true },
  ]);
  const newer = registerKeys('b', [{ key: '1', label: 'new', run: nothing }]);
  assert.equal(findKey('1', null, false)?.label, 'new');
  newer();
  assert.equal(findKey('1', null, false)?.label, 'old');
  assert.equal(findKey('1', null, true), null);
  assert.equal(findKey('t', 'g', false)?.label, 'tree');
  assert.equal(findKey('t', null, false), null);
  assert.equal(findKey('Ctrl+K', null, true)?.label, 'all');
  older();
  assert.equal(findKey('1', null, false), null);
});

test('names of keys', () => {
  const none = { ctrlKey: false, metaKey: false, altKey: false, shiftKey: false };
  assert.equal(keyName({ ...none, key: '?', shiftKey: true }), '?');
  assert.equal(keyName({ ...none, key: 'k', ctrlKey: true }), 'Ctrl+K');
  assert.equal(keyName({ ...none, key: 'k', metaKey: true }), 'Ctrl+K');
  assert.equal(keyName({ ...none, key: 'ArrowLeft', shiftKey: true }), 'Shift+ArrowLeft');
  assert.equal(keyName({ ...none, key: ' ' }), 'Space');
});

test('lists find every word, beginnings of words first', () => {
  const choice = (label: string): Choice => ({ id: label, label, run: () => undefined });
  const found = filterChoices([choice('wall time'), choice('runtime'), choice('Time'), choice('bytes')], 'time');
  assert.deepEqual(
    found.map((c) => c.label),
    ['Time', 'wall time', 'runtime'],
  );
  assert.equal(matchScore('MPI Time', 'time mpi') >= 0, true);
  assert.equal(matchScore('MPI Time', 'time gpu'), -1);
});

test('a name has one colour, and text on it can be read', () => {
  assert.equal(hash(''), 0x811c9dc5);
  assert.equal(hash('a'), 0xe40c292c); // FNV-1a's own test vector
  assert.deepEqual(colorOfName('main', false), colorOfName('main', false));
  const luminance = ([r, g, b]: Rgb) =>
    [r, g, b]
      .map((c) => (c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4))
      .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i]!, 0);
  for (let i = 0; i < 500; i++) {
    assert.ok((luminance(colorOfName(`f${i}`, false)) + 0.05) / 0.063 >= 4.5, 'dark text on light');
    assert.ok(0.8 / (luminance(colorOfName(`f${i}`, true)) + 0.05) >= 4.5, 'light text on dark');
  }
});

test('scales end where they should', () => {
  assert.equal(css(diverging(-1, false)), 'rgb(33,102,172)');
  assert.equal(css(diverging(0, false)), 'rgb(238,238,238)');
  assert.equal(css(diverging(5, false)), 'rgb(198,80,20)');
  assert.equal(css(sequential(NaN)), 'rgb(0,34,78)');
  assert.equal(inkOn([255, 255, 255]), '#000');
  assert.equal(inkOn([0, 34, 78]), '#fff');
});

test('commands', () => {
  assert.equal(
    commandLine('tree', ['a b.cubex'], { metric: 'time', run: 0, top: null, flat: true, json: false }),
    "assay tree 'a b.cubex' --metric time --run 0 --flat",
  );
  assert.equal(commandLine('tree', ['a'], { hide: ['^f$', 'g'], metric: [] }), "assay tree a --hide '^f$' --hide g");
  setReading(['--from', 'cube-set', '-O', 'points=app.p4:app p8']);
  assert.equal(
    commandLine('tree', ['a'], { run: 0 }),
    "assay tree a --run 0 --from cube-set -O 'points=app.p4:app p8'",
  );
  setReading([]);
});
