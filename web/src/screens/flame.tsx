import { Placeholder } from './placeholder';
import { commandLine, type Screen } from './screen';

export const flame: Screen = {
  id: 'flame',
  title: 'Flame',
  key: 'f',
  available: (_, input) => input.has.tree,
  component: () => <Placeholder title="Flame" />,
  command: ({ input, metric }) => commandLine('flame', [input.path], { metric: metric?.name }),
};
