// The numbers are those of the rules in src/render/quantity.h, worked out by hand.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  exactValue,
  finiteSize,
  formatChange,
  formatCount,
  formatPercent,
  formatQuantity,
  formatValue,
  known,
  longestText,
  quantityOf,
  real,
  shellWord,
  shortName,
  shortValue,
} from '../src/format';
import { sureText } from '../src/screens/compare-data';

test('times take the unit of the largest', () => {
  const seconds = quantityOf('sec', 12.5);
  assert.equal(seconds.unit, 's');
  assert.equal(formatQuantity(seconds, 12.5), '12.50');
  assert.equal(formatQuantity(seconds, 0.001), '0.00');
  assert.equal(formatQuantity(seconds, 0), '0');
  assert.equal(formatQuantity(seconds, -0.001), '0.00');
  assert.equal(formatValue('s', 0.25), '250.0 ms');
  assert.equal(formatValue('usec', 1500), '1.500 ms');
  assert.equal(formatValue('ns', 12), '12.00 ns');
  assert.equal(formatValue('s', 86400), '86,400.0 s');
});

test('what lies exactly in the middle goes to the even digit, as in the command', () => {
  const tenths = quantityOf('sec', 145.25);
  for (const [value, text] of [
    [145.25, '145.2'],
    [145.75, '145.8'],
    [145.35, '145.3'],
    [-1.25, '-1.2'],
    [-1.75, '-1.8'],
    [0.05, '0.1'],
    [0.25, '0.2'],
    [1e20, '100,000,000,000,000,000,000.0'],
  ] as const)
    assert.equal(formatQuantity(tenths, value), text);
  assert.equal(formatPercent(0.28125), '28.1');
  assert.equal(formatPercent(0.0625), '6.2');
  assert.equal(formatPercent(20.005), '2000');
});

test('bytes are powers of ten, whole ones exact', () => {
  assert.equal(formatValue('bytes', 999), '999 B');
  assert.equal(formatValue('bytes', 1_234_567), '1.235 MB');
  assert.equal(formatValue('kB', 2), '2 kB');
});

test('counts have all digits up to 1e12, then an exponent', () => {
  assert.equal(formatValue('occ', 1234567), '1,234,567 occ');
  assert.equal(formatValue(null, 123), '123');
  assert.equal(formatValue('unknown', 2e12), '2.000e+12');
  assert.equal(formatValue('', 0.0001), '1.000e-04');
  assert.equal(shortValue('#', 2.5e9), '2.500 G');
  assert.equal(shortValue('#', -43738331772), '-43.74 G');
  assert.equal(shortValue('occ', 999999), '999,999 occ');
  assert.equal(shortValue('bytes', 1.77e9), '1.770 GB');
  assert.equal(shortValue('usec', 3.998e6), '3.998 s');
  assert.equal(shortValue('#', 'inf'), 'inf #');
  assert.equal(shortValue('#', null), '');
  assert.equal(exactValue('s', -Infinity), '-inf s');
  assert.equal(formatCount(1000), '1,000');
});

test('no number of a column is longer than its longest text', () => {
  assert.equal(longestText(quantityOf('#', 12528158493), 12528158493), '-12,528,158,493.0');
  assert.equal(longestText(quantityOf('s', 11684644753635242), 11684644753635242), '-11,684,644,753,635,242.0');
  // Beyond 1e12 numbers are written as 1.234e+13, but smaller whole ones with all their digits
  assert.equal(longestText(quantityOf('#', 2e13, true), 2e13), '-999,999,999,999');
});

test('what is no number', () => {
  assert.equal(formatValue('s', null), '');
  assert.equal(formatValue('s', 2.5e-200), '2.500e-191 ns');
  assert.equal(formatQuantity(quantityOf('x', 1), Infinity), 'inf');
  assert.equal(formatQuantity(quantityOf('x', 1), NaN), 'nan');
  assert.equal(formatPercent(NaN), '');
});

test('percent and changes', () => {
  assert.equal(formatPercent(0.1234), '12.3');
  assert.equal(formatPercent(0), '0');
  assert.equal(formatPercent(0.0001), '0.0');
  assert.equal(formatPercent(12.3456), '1235');
  assert.equal(formatPercent(1e5), '>1e6');
  assert.equal(formatChange(0.123), '+12.3');
  assert.equal(formatChange(-0.004), '-0.4');
  assert.equal(formatChange(0.0001), '<+0.1');
  assert.equal(formatChange(-0.0001), '>-0.1');
});

test('exact values keep every digit', () => {
  assert.equal(exactValue('s', 0.1 + 0.2), '0.30000000000000004 s');
  assert.equal(exactValue(null, 7), '7');
});

test('words of a shell', () => {
  assert.equal(shellWord('a/b.cubex'), 'a/b.cubex');
  assert.equal(shellWord('my file'), "'my file'");
  assert.equal(shellWord("it's; rm -rf $HOME"), `'it'\\''s; rm -rf $HOME'`);
  assert.equal(shellWord(''), "''");
});

test('numbers that answers tell as texts', () => {
  assert.deepEqual(
    [real(3), real('inf'), real('-inf'), real('9007199254740994')],
    [3, Infinity, -Infinity, 2 ** 53 + 2],
  );
  assert.ok([null, undefined, 'nan'].every((n) => Number.isNaN(real(n))));
  assert.deepEqual([known(null), known(undefined), known('inf')], [null, null, Infinity]);
  assert.deepEqual([finiteSize(-2), finiteSize('-inf'), finiteSize('nan'), finiteSize(null)], [2, 0, 0, 0]);
  assert.equal(formatQuantity(quantityOf('s', 1), 'inf'), 'inf');
  assert.equal(formatValue('s', '-inf'), '-inf s');
  assert.equal(formatValue('s', 'nan'), 'nan s');
});

test('how sure a change is', () => {
  assert.equal(sureText({ low: 1.08, high: 1.1321, p: 0.0021 }), 'B is 1.080 to 1.132 times A (95 %), p = 0.0021');
  assert.equal(sureText({ low: 0.5, high: 'inf', p: null }), 'B is 0.5000 to Infinity times A (95 %)');
  assert.equal(sureText({ low: null, high: null, p: null }), '');
});

test('places of loops and lines stand without their folders', () => {
  assert.equal(shortName('loop at /builds/tests/loops.cu:48'), 'loop at loops.cu:48');
  assert.equal(shortName('line src/heat.c:36'), 'line heat.c:36');
  assert.equal(shortName('[I] loop at a b/c.c:1'), '[I] loop at c.c:1');
  assert.equal(shortName('loop at [libmpi.so.40]:0'), 'loop at [libmpi.so.40]');
  assert.equal(shortName('line a/b.c:10'), 'line b.c:10');
  for (const name of ['loop at c.c:1', 'line', 'a/b:1', 'std::operator/ <int>', 'online src/heat.c:36'])
    assert.equal(shortName(name), name);
});
