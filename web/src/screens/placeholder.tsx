/** Stands where a screen is not written yet. */
export function Placeholder({ title }: { title: string }) {
  return <div class="message">{`${title}: this screen is not there yet.`}</div>;
}
