// What both pages do, once they know whom to ask.
import { render } from 'preact';
import './style.css';
import { setBackend, type Backend } from './api';
import { followKeys } from './keys';
import { App } from './shell';
import { followAddress } from './state';
import { followTheme } from './theme';
import { showHarmful } from './visible';

export function start(backend: Backend): void {
  showHarmful();
  followTheme();
  followAddress();
  followKeys();
  setBackend(backend);
  render(<App />, document.getElementById('app')!);
}
