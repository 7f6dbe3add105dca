import { Placeholder } from './placeholder';
import { commandLine, type Screen } from './screen';

export const compare: Screen = {
  id: 'compare',
  title: 'Compare',
  key: 'c',
  available: (inputs) => inputs.inputs.filter((i) => !i.error).length > 1,
  component: () => <Placeholder title="Compare" />,
  command: ({ inputs }) => commandLine('diff', inputs.inputs.slice(0, 2).map((i) => i.path)),
};
