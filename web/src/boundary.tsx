// What goes wrong inside a screen stays inside it.
import { Component, type ComponentChildren } from 'preact';
import type { Failure } from './api';

interface Props {
  /** Another one begins anew. */
  name: string;
  children: ComponentChildren;
}

export class Boundary extends Component<Props, { error: Error | null; name: string }> {
  state = { error: null as Error | null, name: this.props.name };

  static getDerivedStateFromError(error: Error): { error: Error } {
    return { error };
  }

  static getDerivedStateFromProps(props: Props, state: { name: string }): { error?: null; name?: string } | null {
    return props.name === state.name ? null : { error: null, name: props.name };
  }

  componentDidCatch(error: Error): void {
    console.error(error);
  }

  render({ children }: Props) {
    if (!this.state.error) return children;
    return (
      <div class="message error" role="alert">
        <h2>This screen failed</h2>
        <p>{this.state.error.message}</p>
        <button onClick={() => this.setState({ error: null })}>Try again</button>
      </div>
    );
  }
}

/** An error of a request or a file, where it happened. */
export function Failed({ failure, title }: { failure: Failure; title?: string }) {
  if (failure.rule === 'not-in-report') {
    return (
      <div class="message" role="status">
        <p class="hint">{failure.message}</p>
      </div>
    );
  }
  const place = failure.file
    ? `${failure.file}${failure.line ? `:${failure.line}` : ''}${failure.line && failure.column ? `:${failure.column}` : ''}`
    : '';
  return (
    <div class="message error" role="alert">
      {title && <h2>{title}</h2>}
      {place && <p class="mono">{place}</p>}
      <p>{failure.message}</p>
      {failure.rule && <p class="hint">{failure.rule}</p>}
    </div>
  );
}

/**
 * While the first answer is on its way. Nothing is shown for the first moment, so that quick answers do not flicker.
 */
export function Waiting({ what = 'Loading' }: { what?: string }) {
  return (
    <div class="message waiting-page" role="status">
      {what} …
    </div>
  );
}
