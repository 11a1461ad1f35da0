"""Sends requests to a server with berserk, the Python client of Lichess. Argument: the server's address."""

import sys

import berserk

client = berserk.Client(explorer_url=sys.argv[1])
explorer = client.opening_explorer

answer = explorer.get_lichess_games(position="rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", history=True)
assert answer["white"] + answer["draws"] + answer["black"] == 53, answer
answer = explorer.get_lichess_games(play=["e2e4", "c7c5"], speeds=["classical", "rapid", "blitz"], ratings=["2200", "2500"])
assert answer["opening"]["eco"] == "B20", answer
answer = explorer.get_masters_games(play=["e2e4"], since=1900, until=2020)
assert answer["moves"][0]["uci"] and answer["topGames"] is not None, answer
game = explorer.get_otb_master_game("00000001")
assert "[White" in game, game
answer = explorer.get_player_games(player="fischer, robert james", color="white", wait_for_indexing=True)
assert answer["white"] + answer["draws"] + answer["black"] == 3, answer
last = list(explorer.stream_player_games(player="fischer, robert james", color="white"))
assert len(last) == 1, last
print("berserk read it all")
