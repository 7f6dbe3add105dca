// A model's function as people write it.
import { formulaPieces } from './model';

export function Formula({ text, parameters }: { text: string; parameters: readonly string[] }) {
  return (
    <span class="formula">
      {formulaPieces(text, parameters).map((piece, i) =>
        piece.kind === 'sup' ? (
          <sup key={i}>{piece.text}</sup>
        ) : piece.kind === 'sub' ? (
          <sub key={i}>{piece.text}</sub>
        ) : piece.kind === 'var' ? (
          <i key={i}>{piece.text}</i>
        ) : (
          piece.text
        ),
      )}
    </span>
  );
}
