"""Every position of every line of the games of a PGN, as python-chess reads them: game, line, ply, FEN, FEN before,
UCI of the move that led to it. Line 0 is the main line; the others are numbered by their opening brackets. With
`clean` before the path: the games that python-chess reads without an error, written again."""
import sys

import chess.pgn


def canonical(board):
    return board.epd(en_passant="legal")


class Lines(chess.pgn.BaseVisitor):
    def begin_game(self):
        self.rows, self.line, self.lines, self.open = [], 0, 0, []

    def visit_board(self, board):
        if not self.rows:
            self.rows.append((0, 0, canonical(board), "", ""))

    def begin_variation(self):
        self.open.append(self.line)
        self.lines += 1
        self.line = self.lines

    def end_variation(self):
        self.line = self.open.pop()

    def visit_move(self, board, move):
        after = board.copy(stack=False)
        after.push(move)
        ply = len(board.move_stack) + 1
        self.rows.append((self.line, ply, canonical(after), canonical(board), board.uci(move)))

    def result(self):
        return self.rows


def games(path, visitor):
    with open(path, encoding="utf-8", errors="replace") as pgn:
        while (game := chess.pgn.read_game(pgn, Visitor=visitor)) is not None:
            yield game


if sys.argv[1] == "clean":
    for game in games(sys.argv[2], chess.pgn.GameBuilder):
        if not game.errors:
            print(game.accept(chess.pgn.StringExporter(comments=False)), end="\n\n")
else:
    for number, rows in enumerate(games(sys.argv[1], Lines), 1):
        for row in rows:
            print(number, *row, sep="\t")
