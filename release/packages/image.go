package main

import (
	"encoding/json"
	"strings"
)

// uid is the user id of the container; the image has no list of users.
const uid = 65532

// descriptor points to a blob of an image (OCI image specification).
type descriptor struct {
	MediaType   string            `json:"mediaType"`
	Digest      string            `json:"digest"`
	Size        int               `json:"size"`
	Platform    *platform         `json:"platform,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

type platform struct {
	Architecture string `json:"architecture"`
	OS           string `json:"os"`
}

type imageConfig struct {
	platform
	Created string        `json:"created"`
	Config  runtimeConfig `json:"config"`
	RootFS  rootFS        `json:"rootfs"`
}

type runtimeConfig struct {
	User         string              `json:"User"`
	ExposedPorts map[string]struct{} `json:"ExposedPorts"`
	Env          []string            `json:"Env"`
	Entrypoint   []string            `json:"Entrypoint"`
	Volumes      map[string]struct{} `json:"Volumes"`
	Labels       map[string]string   `json:"Labels"`
	Healthcheck  healthcheck         `json:"Healthcheck"` // of Docker, not of the specification
}

// healthcheck has its times in nanoseconds.
type healthcheck struct {
	Test                           []string
	Interval, Timeout, StartPeriod int64
}

type rootFS struct {
	Type    string   `json:"type"`
	DiffIDs []string `json:"diff_ids"`
}

type imageManifest struct {
	SchemaVersion int          `json:"schemaVersion"`
	MediaType     string       `json:"mediaType"`
	Config        descriptor   `json:"config"`
	Layers        []descriptor `json:"layers"`
}

type imageIndex struct {
	SchemaVersion int          `json:"schemaVersion"`
	MediaType     string       `json:"mediaType"`
	Manifests     []descriptor `json:"manifests"`
}

const ociType = "application/vnd.oci.image."

// layout collects the blobs of an image.
type layout struct{ files []file }

// add stores a blob under its digest and describes it.
func (l *layout) add(kind string, data []byte) descriptor {
	sum := digest(data)
	l.files = append(l.files, file{path: "/blobs/sha256/" + sum, mode: 0o644, data: data})
	return descriptor{MediaType: ociType + kind, Digest: "sha256:" + sum, Size: len(data)}
}

// addJSON is like add for a value that is stored as JSON.
func (l *layout) addJSON(kind string, v any) (descriptor, error) {
	data, err := json.Marshal(v)
	return l.add(kind, data), err
}

// image makes the container image for both architectures, as an archive of an
// OCI layout, which podman, skopeo and docker load. It has what Dockerfile has.
func (r *release) image() (map[string][]byte, error) {
	l := &layout{}
	all := imageIndex{SchemaVersion: 2, MediaType: ociType + "index.v1+json"}
	for _, arch := range []string{"amd64", "arm64"} {
		m, err := r.imageFor(l, arch)
		if err != nil {
			return nil, err
		}
		all.Manifests = append(all.Manifests, m)
	}
	index, err := l.addJSON("index.v1+json", all)
	if err != nil {
		return nil, err
	}
	index.Annotations = map[string]string{ // what podman and docker call the image when they load it
		"org.opencontainers.image.ref.name": "wick:" + r.version,
		"io.containerd.image.name":          "localhost/wick:" + r.version,
	}
	top, err := json.Marshal(imageIndex{SchemaVersion: 2, MediaType: ociType + "index.v1+json", Manifests: []descriptor{index}})
	l.files = append(l.files,
		file{path: "/index.json", mode: 0o644, data: top},
		file{path: "/oci-layout", mode: 0o644, data: []byte(`{"imageLayoutVersion":"1.0.0"}`)})
	return map[string][]byte{"wick-" + r.version + "-oci.tar": archive(l.files, r.epoch)}, err
}

// imageFor adds the image of one architecture.
func (r *release) imageFor(l *layout, arch string) (descriptor, error) {
	program, err := r.read(r.binary("linux", arch))
	if err != nil {
		return descriptor{}, err
	}
	files := archive([]file{
		{path: "/wick", mode: 0o755, data: program},
		{path: "/etc/ssl/certs/ca-certificates.crt", mode: 0o644, data: r.ca},
		{path: "/data/", mode: 0o700, owner: uid},
	}, r.epoch)
	layer := l.add("layer.v1.tar+gzip", compress(files))
	p := platform{arch, "linux"}
	config, err := l.addJSON("config.v1+json", imageConfig{
		platform: p, Created: r.epoch.Format("2006-01-02T15:04:05Z"), RootFS: rootFS{"layers", []string{"sha256:" + digest(files)}},
		Config: runtimeConfig{
			User: "65532:65532", Entrypoint: []string{"/wick"}, Labels: r.labels(),
			Env:          []string{"WICK_LISTEN=0.0.0.0", "WICK_DATA_DIR=/data", "WICK_SERVE=true", "WICK_EXIT_WHEN_BROKEN=true"},
			ExposedPorts: map[string]struct{}{"9315/tcp": {}}, Volumes: map[string]struct{}{"/data": {}},
			Healthcheck: healthcheck{[]string{"CMD", "/wick", "--healthcheck"}, 30e9, 5e9, 2e9},
		},
	})
	if err != nil {
		return descriptor{}, err
	}
	m, err := l.addJSON("manifest.v1+json", imageManifest{2, ociType + "manifest.v1+json", config, []descriptor{layer}})
	m.Platform = &p
	return m, err
}

// labels says what the image is; the registry of MCP servers compares the name.
func (r *release) labels() map[string]string {
	labels := map[string]string{
		"io.modelcontextprotocol.server.name":    r.serverName(),
		"org.opencontainers.image.title":         "wick",
		"org.opencontainers.image.description":   strings.ToUpper(summary[:1]) + summary[1:],
		"org.opencontainers.image.licenses":      "MIT",
		"org.opencontainers.image.source":        "https://" + r.repository(),
		"org.opencontainers.image.version":       r.version,
		"org.opencontainers.image.documentation": "https://" + r.repository() + "/blob/main/docs/deploy.md",
	}
	if r.revision != "" {
		labels["org.opencontainers.image.revision"] = r.revision
	}
	return labels
}
