import { render } from 'preact';
import './style.css';
import { setBackend } from './api';
import { followKeys } from './keys';
import { openBackend } from './reportbackend';
import { App } from './shell';
import { followAddress } from './state';
import { followTheme } from './theme';

followTheme();
followAddress();
followKeys();
void openBackend(document).then((backend) => {
  setBackend(backend);
  render(<App />, document.getElementById('app')!);
});
