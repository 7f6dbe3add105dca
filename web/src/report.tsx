// The page of a report: the data is inside, and nobody is asked.
import { start } from './start';
import { openBackend } from './reportbackend';

void openBackend(document).then(start);
