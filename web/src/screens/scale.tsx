import { Placeholder } from './placeholder';
import { commandLine, type Screen } from './screen';

export const scale: Screen = {
  id: 'scale',
  title: 'Scale',
  key: 's',
  available: (inputs, input) => input.has.points > 1 || inputs.experiment !== null,
  component: () => <Placeholder title="Scale" />,
  command: ({ input, metric }) => commandLine('model', [input.path], { metric: metric?.name }),
};
