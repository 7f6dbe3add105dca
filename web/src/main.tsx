// The page that the server sends: it asks the server.
import { HttpBackend } from './api';
import { start } from './start';

start(new HttpBackend());
