import { Placeholder } from './placeholder';
import { commandLine, type Screen } from './screen';

export const tree: Screen = {
  id: 'tree',
  title: 'Tree',
  key: 't',
  available: (_, input) => input.has.tree,
  component: () => <Placeholder title="Tree" />,
  command: ({ input, metric }) => commandLine('tree', [input.path], { metric: metric?.name }),
};
