import { isReport } from '../api';
import { Placeholder } from './placeholder';
import { commandLine, type Screen } from './screen';

export const sql: Screen = {
  id: 'sql',
  title: 'SQL',
  key: 'q',
  available: () => !isReport(),
  component: () => <Placeholder title="SQL" />,
  command: ({ input }) => commandLine('sql', [input.path]),
};
