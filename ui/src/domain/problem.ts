/** Refusals of the till. Whatever else is thrown (a lost window, a bug) becomes `internal`, so that every caller has one kind of failure to show. */
import type { Problem } from '../bindings/Problem';
import type { ProblemCode } from '../bindings/ProblemCode';
import type { Messages } from '../i18n/messages';

function isProblem(thrown: unknown): thrown is Problem {
  return (
    typeof thrown === 'object' &&
    thrown !== null &&
    'code' in thrown &&
    typeof thrown.code === 'string' &&
    'message' in thrown
  );
}

export function toProblem(thrown: unknown): Problem {
  if (isProblem(thrown)) return thrown;
  return {
    code: 'internal',
    message: thrown instanceof Error ? thrown.message : String(thrown),
    detail: null,
  };
}

/** A refusal that the screen itself knows before it asks the till. */
export function ownProblem(code: ProblemCode, detail: string | null = null): Problem {
  return { code, message: '', detail };
}

/** The sentence for a person; the till's own words only for a code that this screen does not know. */
export function problemSentence(problem: Problem, t: Messages): string {
  const sentences: Partial<Messages['problem']> = t.problem;
  return sentences[problem.code]?.(problem.detail) ?? problem.message;
}
