// The page of a report: the data is inside, and nobody is asked.
import { start } from './start';
import { openBackend } from './reportbackend';
import { followPrinting } from './reportpaper';

// Whoever prints the page as soon as it is loaded (a browser without a window) waits for what is inside of it, too: a
// frame that is being written keeps it from being so
const frame = document.createElement('iframe');
frame.hidden = true;
document.body.append(frame);
frame.contentDocument?.open();

void openBackend(document)
  .then((backend) => {
    start(backend);
    followPrinting();
  })
  .finally(() => {
    frame.contentDocument?.close();
    frame.remove();
  });
