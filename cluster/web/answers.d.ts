// What the server answers, for the type check of static/*.js (tsc); nothing is made of this file.

export interface Word {
  word: string;
  points: number;
  letters: number;
  path: number[];
}

// A board that can be looked at and played on; cells are numbered down the columns.
export interface Playable {
  rows: string[][];
  words: Word[];
  wordlist: string;
  heat?: number[] | null;
  values?: (number | null)[];
  bonus?: (string | null)[];
  common?: string[]; // those of the words that most people know
  least: number; // letters of the shortest words that are worth points
  uncounted: string[]; // words of the list on the board that are worth none
}

// How a board is played; of a page that is one file.
export interface Game {
  minutes: number; // 0: no limit
  least: number; // letters of a word that counts
  goal: number; // words to find; 0: none
}

// GET /api/board
export interface Told extends Playable {
  board: string;
  dims: string;
  cells: string[];
  letters: Record<string, string>;
  score: number;
  n_words: number;
  place: string | null;
  usual: string | null; // in symbols, when the board has one letter in each cell
  canonical: string | null;
  dice: string | null;
}

// GET /api/around
export interface Around {
  scores: number[][];
  best: [board: string, change: string, score: number, difference: number][];
}

// GET /api/climb
export interface Climb {
  found: [board: string, score: number][];
  pool: number;
  complete: boolean;
}

export interface Drawn {
  board: string;
  typed: string;
  score: number;
  svg: string;
  said: string;
}

// GET /api/runs/KEY and its rows: cluster/web/site.py says what they hold.
export type Run = Record<string, any>;
