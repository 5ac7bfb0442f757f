// What the server answers, for the type check of static/*.js (tsc).
// Made from cluster/answers/told.py by python -m tests.bench.page_types.

export interface Word {
  word: string;
  points: number;
  letters: number;
  path: number[];
}

export interface Game {
  minutes: number;
  least: number;
  goal: number;
}

export interface Playable {
  rows: string[][];
  words: Word[];
  wordlist: string;
  letters: Record<string, string>;
  heat?: number[];
  values?: (number | null)[];
  bonus?: (string | null)[];
  common?: string[];
  least: number;
  uncounted: string[];
}

export interface Told {
  rows: string[][];
  words: Word[];
  wordlist: string;
  letters: Record<string, string>;
  heat?: number[];
  values?: (number | null)[];
  bonus?: (string | null)[];
  common?: string[];
  least: number;
  uncounted: string[];
  board: string;
  dims: string;
  wordlist_sha256: string;
  score: number;
  n_words: number;
  cells: string[];
  place: string;
  usual: string | null;
  canonical?: string;
  dice?: string;
}

export interface Around {
  scores: number[][];
  best: [string, string, number, number][];
}

export interface Climb {
  found: [string, number][];
  pool: number;
  complete: boolean;
}

export interface Placed {
  board: string;
  typed: string;
  score: number;
  svg: string;
  said: string;
}

export interface Pulse {
  key: string;
  name: string;
  version: string;
  state: string;
  error: string;
  dims: string | null;
  question: string;
  line: string;
  claim: string;
  share: number | null;
  percent: string;
  done: string;
  best: Placed | null;
  said: string;
  now: [string, string, boolean][];
  busy: string[][];
  to_come: string;
}

export interface RowsTold {
  version: string;
  dims: string | null;
  read_at_s: number;
  proven: boolean;
  notes: string[];
  boards: Placed[];
  boards_told: string;
  map: [string, string];
  cost: string;
  check: [string, string, boolean][];
}
