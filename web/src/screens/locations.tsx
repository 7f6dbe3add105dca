import { Placeholder } from './placeholder';
import { commandLine, type Screen } from './screen';

export const locations: Screen = {
  id: 'locations',
  title: 'Locations',
  key: 'l',
  available: (_, input) => input.has.locations > 1,
  component: () => <Placeholder title="Locations" />,
  command: ({ input, metric }) => commandLine('stat', [input.path], { metric: metric?.name }),
};
