# Homebrew formula of wick.
class Wick < Formula
  desc "{{.Summary}}"
  homepage "{{.Repository}}"
  version "{{.Version}}"
  license "MIT"

  on_macos do
    on_arm do
      url "{{url (binary "darwin" "arm64")}}"
      sha256 "{{sum (binary "darwin" "arm64")}}"
    end
    on_intel do
      url "{{url (binary "darwin" "amd64")}}"
      sha256 "{{sum (binary "darwin" "amd64")}}"
    end
  end
  on_linux do
    on_arm do
      url "{{url (binary "linux" "arm64")}}"
      sha256 "{{sum (binary "linux" "arm64")}}"
    end
    on_intel do
      url "{{url (binary "linux" "amd64")}}"
      sha256 "{{sum (binary "linux" "amd64")}}"
    end
  end

  resource "share" do
    url "{{url .Share}}"
    sha256 "{{sum .Share}}"
  end

  def install
    bin.install Dir["wick-*"].first => "wick"
    resource("share").stage do
      man1.install "man/man1/wick.1.gz"
      bash_completion.install "bash-completion/completions/wick"
      zsh_completion.install "zsh/site-functions/_wick"
      fish_completion.install "fish/vendor_completions.d/wick.fish"
    end
  end

  service do
    run [opt_bin/"wick", "--serve", "--trade", "--source", "auto"]
    keep_alive true
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/wick --version")
  end
end
