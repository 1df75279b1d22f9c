class Mustlink < Formula
  desc "Learns metrics and kernels from must-links and cannot-links"
  homepage "{{.Home}}"
  version "{{.Version}}"
  license "BSD-3-Clause"
{{define "archive"}}url "https://github.com/mustlink/mustlink/releases/download/{{end}}
  on_macos do
    on_arm do
      {{template "archive"}}v{{.Version}}/{{archive "darwin/arm64"}}"
      sha256 "{{sum "darwin/arm64"}}"
    end
    on_intel do
      {{template "archive"}}v{{.Version}}/{{archive "darwin/amd64"}}"
      sha256 "{{sum "darwin/amd64"}}"
    end
  end
  on_linux do
    on_arm do
      {{template "archive"}}v{{.Version}}/{{archive "linux/arm64"}}"
      sha256 "{{sum "linux/arm64"}}"
    end
    on_intel do
      {{template "archive"}}v{{.Version}}/{{archive "linux/amd64"}}"
      sha256 "{{sum "linux/amd64"}}"
    end
  end

  def install
    bin.install "mustlink"
    man1.install Dir["man/man1/*"]
    man7.install Dir["man/man7/*"]
    bash_completion.install "completions/mustlink.bash" => "mustlink"
    zsh_completion.install "completions/_mustlink"
    fish_completion.install "completions/mustlink.fish"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/mustlink --version")
  end
end
