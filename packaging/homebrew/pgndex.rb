# The release workflow replaces the words between @ signs.
class Pgndex < Formula
  desc "Index large PGN dumps into one SQLite file: every position and move"
  homepage "https://github.com/@REPOSITORY@"
  url "https://github.com/@REPOSITORY@/releases/download/v@VERSION@/pgndex-@VERSION@.tar.gz"
  sha256 "@SOURCE_SHA256@"
  license any_of: ["MIT", "Apache-2.0"]

  depends_on "rust" => :build

  def install
    system "cargo", "install", *std_cargo_args
    generate_completions_from_executable(bin/"pgndex", "completions")
    man1.mkpath
    system bin/"pgndex", "man", man1
    pkgshare.install "examples/famous-games.pgn"
  end

  test do
    assert_match "built with all", shell_output("#{bin}/pgndex --version --verbose")
    system bin/"pgndex", "index", "--quiet", "games.db", pkgshare/"famous-games.pgn"
    found = shell_output("#{bin}/pgndex find games.db --moves '1. e4 e5 2. Nf3 Nc6 3. Bb5'")
    assert_match "3 games", found
  end
end
