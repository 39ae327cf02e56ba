{
  description = "{{.Summary}}";
  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-unstable";
  outputs = { self, nixpkgs }:
    let
      files = {
        x86_64-linux = { url = "{{url (binary "linux" "amd64")}}"; hash = "{{sri (binary "linux" "amd64")}}"; };
        aarch64-linux = { url = "{{url (binary "linux" "arm64")}}"; hash = "{{sri (binary "linux" "arm64")}}"; };
        x86_64-darwin = { url = "{{url (binary "darwin" "amd64")}}"; hash = "{{sri (binary "darwin" "amd64")}}"; };
        aarch64-darwin = { url = "{{url (binary "darwin" "arm64")}}"; hash = "{{sri (binary "darwin" "arm64")}}"; };
      };
    in {
      packages = builtins.mapAttrs (system: file:
        let
          pkgs = nixpkgs.legacyPackages.${system};
          program = pkgs.fetchurl file;
          share = pkgs.fetchurl { url = "{{url .Share}}"; hash = "{{sri .Share}}"; };
        in {
          default = pkgs.runCommand "wick-{{.Version}}" { meta = { mainProgram = "wick"; license = pkgs.lib.licenses.mit; }; } ''
            install -Dm755 ${program} $out/bin/wick
            tar -xzf ${share} -C $out
          '';
        }) files;
    };
}
