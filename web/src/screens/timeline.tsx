import { Placeholder } from './placeholder';
import { commandLine, type Screen } from './screen';

export const timeline: Screen = {
  id: 'timeline',
  title: 'Time line',
  key: 'i',
  available: (_, input) => input.has.events,
  component: () => <Placeholder title="Time line" />,
  command: ({ input }) => commandLine('trace', [input.path]),
};
