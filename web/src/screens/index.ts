// All screens, in the order of their tabs.
import { compare } from './compare';
import { flame } from './flame';
import { locations } from './locations';
import { overview } from './overview';
import { scale } from './scale';
import type { Screen } from './screen';
import { sql } from './sql';
import { timeline } from './timeline';
import { tree } from './tree';

export const screens: readonly Screen[] = [
  overview,
  tree,
  flame,
  locations,
  timeline,
  scale,
  compare,
  ...(IS_REPORT ? [] : [sql]),
];
