// Files dropped onto the page: those that came together, directories with all they have, are one drop. They are sent
// one by one, then opened.
import { forgetAnswers, post } from './api';
import { plural } from './format';
import { toast, toastError } from './toast';

export interface Dropped {
  /** With the folders it is in: "db/profile.db". */
  name: string;
  file: File;
}

async function walk(entry: FileSystemEntry, into: Dropped[]): Promise<void> {
  const name = entry.fullPath.replace(/^\/+/, '');
  if (entry.isFile) {
    const file = await new Promise<File>((resolve, reject) => (entry as FileSystemFileEntry).file(resolve, reject));
    into.push({ name, file });
    return;
  }
  const reader = (entry as FileSystemDirectoryEntry).createReader();
  // Entries come in portions; an empty one is the last
  for (;;) {
    const entries = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
    if (entries.length === 0) return;
    // What systems leave in folders, such as .DS_Store, is no part of a measurement
    for (const child of entries) if (!child.name.startsWith('.')) await walk(child, into);
  }
}

export async function filesOf(transfer: DataTransfer): Promise<Dropped[]> {
  const entries = [...transfer.items]
    .map((item) => item.webkitGetAsEntry())
    .filter((entry): entry is FileSystemEntry => entry !== null);
  const found: Dropped[] = [];
  for (const entry of entries) await walk(entry, found);
  if (entries.length > 0 && found.length === 0) toast('There is no file in it.', true);
  return found;
}

/** Sends the files and opens them; `opened` is called when the list of inputs has changed. */
export async function openFiles(files: Dropped[], opened: () => void): Promise<void> {
  if (files.length === 0) return;
  const drop = [...crypto.getRandomValues(new Uint8Array(8))].map((b) => b.toString(16).padStart(2, '0')).join('');
  const send = async () => {
    for (const { name, file } of files) await post('drop', { drop, name }, file);
    await post('open', { drop });
  };
  const sent = send();
  toast(`Opening ${files.length === 1 ? files[0]!.name : plural(files.length, 'file')} …`, false, sent);
  try {
    await sent;
  } catch (error) {
    toastError(error);
    await post('discard', { drop }).catch(() => {});
  }
  forgetAnswers();
  opened();
}
