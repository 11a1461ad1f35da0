"""Checks moves that pgndex has played with python-chess.

Each line of standard input is a ply with tab-separated fields: six-field FEN, UCI, SAN, signed key, FEN after the
move, signed key after it, Chess960 (0 or 1). The FENs and the keys include an en-passant square only if a capture is
legal. Prints the differences and, on the last line, the number of plies.
"""

import sys

import chess
import chess.polyglot


def key(board):
    """The key of the FEN. python-chess itself also hashes an en-passant square without a legal capture."""
    board = board.copy(stack=False)
    if not board.has_legal_en_passant():
        board.ep_square = None
    unsigned = chess.polyglot.zobrist_hash(board)
    return unsigned - (1 << 64) if unsigned >> 63 else unsigned


def main():
    plies = 0
    for line in sys.stdin:
        fen, uci, san, before, after, key_after, chess960 = line.rstrip("\n").split("\t")
        plies += 1
        board = chess.Board(fen, chess960=chess960 == "1")
        found = [board.fen(en_passant="legal"), str(key(board))]
        move = board.parse_uci(uci)
        found += [board.san(move), board.uci(move), str(board.parse_san(san) == move)]
        board.push(move)
        found += [board.fen(en_passant="legal"), str(key(board))]
        expected = [fen, before, san, uci, "True", after, key_after]
        if found != expected:
            print(f"pgndex {expected}\nchess  {found}")
    print(plies)


main()
