// Numbers for people, as the command prints them (src/render/quantity.h): all of a column in one unit, that of the
// largest.

/** A number of an answer: null where it is not known; "inf", "-inf" and "nan", and integers beyond 2^53, are texts. */
export type Num = number | string | null;
/** NaN of what is not known. */
export const real = (n: Num | undefined): number =>
  typeof n === 'number' ? n : Number(String(n).replace('inf', 'Infinity'));
export const known = (n: Num | undefined): number | null => (n === null || n === undefined ? null : real(n));
/** Its size, 0 of what is not known or not finite: what columns are scaled by. */
export const finiteSize = (n: Num | undefined): number => (Number.isFinite(real(n)) ? Math.abs(real(n)) : 0);

export interface Quantity {
  /** value * factor is what is shown. */
  factor: number;
  unit: string;
  decimals: number;
  /** Whole numbers with all their digits. */
  isExact: boolean;
  isScientific: boolean;
}

const TIMES: [string[], number][] = [
  [['s', 'sec', 'secs', 'second', 'seconds'], 1],
  [['ms', 'msec', 'millisecond', 'milliseconds'], 1e-3],
  [['us', 'usec', 'µs', 'μs', 'microsecond', 'microseconds'], 1e-6],
  [['ns', 'nsec', 'nanosecond', 'nanoseconds'], 1e-9],
];
const SIZES: [string[], number][] = [
  [['b', 'byte', 'bytes'], 1],
  [['kb'], 1e3],
  [['mb'], 1e6],
  [['gb'], 1e9],
];
type Scale = [unit: string, size: number];
const TIME_SCALES: Scale[] = [
  ['s', 1],
  ['ms', 1e-3],
  ['µs', 1e-6],
  ['ns', 1e-9],
];
const SIZE_SCALES: Scale[] = [
  ['PB', 1e15],
  ['TB', 1e12],
  ['GB', 1e9],
  ['MB', 1e6],
  ['kB', 1e3],
  ['B', 1],
];
const COUNT_SCALES: Scale[] = [
  ['P', 1e15],
  ['T', 1e12],
  ['G', 1e9],
  ['M', 1e6],
];
// Between them digits are written out.
const MOST_DIGITS = 1e12;
const LEAST_PLAIN = 1e-3;

function baseOf(units: [string[], number][], unit: string): number {
  const wanted = unit.toLowerCase();
  return units.find(([names]) => names.includes(wanted))?.[1] ?? 0;
}

export const isTime = (unit: string | null): boolean => unit !== null && baseOf(TIMES, unit) > 0;
/** Seconds of one of this unit of time; 0 of another unit. */
export const secondsOf = (unit: string | null): number => (unit === null ? 0 : baseOf(TIMES, unit));

/** Digits behind the point that leave about four in all. */
function decimalsOf(largest: number): number {
  if (!(largest > 0) || !Number.isFinite(largest)) return 0;
  const digits = Math.floor(Math.log10(largest)) + 1;
  return digits >= 4 ? 1 : 4 - digits;
}

function scaled(scales: Scale[], base: number, largest: number): Quantity {
  const value = largest * base;
  let i = 0;
  if (value > 0) while (i + 1 < scales.length && value < scales[i]![1]) i++;
  const [unit, size] = scales[i]!;
  const isTiny = value > 0 && value / size < LEAST_PLAIN;
  return {
    factor: base / size,
    unit,
    decimals: isTiny ? 3 : decimalsOf(value / size),
    isExact: false,
    isScientific: isTiny,
  };
}

/** For numbers of this unit, as files write it, up to `largest` in size. */
export function quantityOf(unit: string | null, largest: number, isWhole = false): Quantity {
  const name = unit === null || unit === 'unknown' ? '' : unit;
  const size = Math.abs(largest);
  const time = baseOf(TIMES, name);
  if (time > 0) return scaled(TIME_SCALES, time, size);
  const bytes = baseOf(SIZES, name);
  if (bytes > 0) {
    const quantity = scaled(SIZE_SCALES, bytes, size > 0 ? size : 1 / bytes);
    return isWhole && quantity.factor === 1 ? { ...quantity, isExact: true, decimals: 0 } : quantity;
  }
  if (isWhole && size < MOST_DIGITS) return { factor: 1, unit: name, decimals: 0, isExact: true, isScientific: false };
  const isScientific = size >= MOST_DIGITS || (size > 0 && size < LEAST_PLAIN);
  return { factor: 1, unit: name, decimals: isScientific ? 3 : decimalsOf(size), isExact: false, isScientific };
}

function group(digits: string): string {
  const [, sign, whole, rest] = /^(-?)(\d*)(.*)$/.exec(digits) as unknown as [string, string, string, string];
  return sign + whole.replace(/\B(?=(\d{3})+$)/g, ',') + rest;
}

function scientific(value: number): string {
  return value.toExponential(3).replace(/e([+-])(\d)$/, 'e$10$2');
}

const BEYOND = 20;

/** What lies exactly in the middle goes to the even digit, as printf() of the command has it: 145.25 is "145.2". */
function fixed(value: number, decimals: number): string {
  const exact = value.toFixed(decimals + BEYOND);
  const down = exact.slice(0, -BEYOND).replace(/\.$/, '');
  return /50{19}$/.test(exact) && /[02468]$/.test(down) ? down : value.toFixed(decimals);
}

/** "1,234.5"; "0" is exactly that, "0.0" what rounds to it; "" of what is no number. */
export function formatQuantity(quantity: Quantity, number: Num | undefined): string {
  const value = known(number);
  if (value === null) return '';
  const isShort = quantity.isScientific && quantity.factor === 1 && Math.abs(value) < MOST_DIGITS;
  if ((quantity.isExact || isShort) && Number.isInteger(value)) return group(String(value));
  let shown = value * quantity.factor;
  if (!Number.isFinite(shown)) return Number.isNaN(shown) ? 'nan' : shown > 0 ? 'inf' : '-inf';
  if (shown === 0) return '0';
  if (quantity.isScientific || Math.abs(shown) >= 1e21) return scientific(shown);
  if (Math.abs(shown) < 0.5 * 10 ** -quantity.decimals) shown = 0;
  return group(fixed(shown, quantity.decimals));
}

/** As long as any number of the column is; large columns have whole numbers that are written out. */
export const longestText = (quantity: Quantity, largest: number): string =>
  formatQuantity(quantity, -(quantity.isScientific ? Math.min(largest, MOST_DIGITS - 1) : largest));

/** One number with its unit: "1.234 ms". */
export function formatValue(unit: string | null, number: Num | undefined): string {
  const value = known(number);
  if (value === null) return '';
  const quantity = quantityOf(unit, value, Number.isInteger(value));
  const text = formatQuantity(quantity, value);
  return quantity.unit ? `${text} ${quantity.unit}` : text;
}

/** The same where there is little room: large counts in M, G, T, P. */
export function shortValue(unit: string | null, number: Num | undefined): string {
  const size = finiteSize(number);
  if (size < 1e6 || baseOf(TIMES, unit ?? '') + baseOf(SIZES, unit ?? '') > 0) return formatValue(unit, number);
  const quantity = scaled(COUNT_SCALES, 1, size);
  return `${formatQuantity(quantity, number)} ${quantity.unit}`;
}

/** All its digits, for tooltips and for what is copied: "0.001234 s". */
export function exactValue(unit: string | null, value: Num | undefined): string {
  if (value === null || value === undefined) return '';
  const text = String(value).replace('Infinity', 'inf');
  return unit && unit !== 'unknown' ? `${text} ${unit}` : text;
}

export const formatCount = (count: number): string => group(String(Math.trunc(count)));

/** "12.3" of 0.1234; "" of what is no number. */
export function formatPercent(share: number | null | undefined): string {
  if (share === null || share === undefined || !Number.isFinite(share)) return '';
  let percent = share * 100;
  if (Math.abs(percent) >= 1e6) return percent > 0 ? '>1e6' : '<-1e6';
  if (percent === 0) return '0';
  if (Math.abs(percent) < 0.05) percent = 0;
  return fixed(percent, Math.abs(percent) >= 999.95 ? 0 : 1);
}

/** The same of a change, with its sign. */
export function formatChange(share: number | null | undefined): string {
  if (share === null || share === undefined || !Number.isFinite(share)) return '';
  if (share !== 0 && Math.abs(share) < 0.0005) return share > 0 ? '<+0.1' : '>-0.1';
  return (share > 0 ? '+' : '') + formatPercent(share);
}

/** A word of the command line: quoted for a POSIX shell where it needs to be. */
export function shellWord(word: string): string {
  return /^[A-Za-z0-9_@%+=:,./-]+$/.test(word) ? word : `'${word.replace(/'/g, `'\\''`)}'`;
}

/** "1 problem", "3 problems". */
export const plural = (n: number, one: string, many = `${one}s`): string => `${formatCount(n)} ${n === 1 ? one : many}`;

/**
 * A name as the command shows it: places of loops and lines without their folders, and without a line that is not
 * known.
 */
export const shortName = (name: string): string =>
  name.replace(
    /^((?:\[I\] )?(?:loop at|line)) (?:.*\/)?([^/]+:\d+)$/,
    (_, what, place) => `${what} ${place.replace(/:0$/, '')}`,
  );
