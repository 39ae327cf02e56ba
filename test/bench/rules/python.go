package main

import (
	"bufio"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"wick/market"
)

//go:embed peers.py
var script string

// packages are the contestants, at the versions that the figures are of.
var packages = []string{"backtesting==0.6.6", "vectorbt==1.2.0"}

// errNoPython says that the comparison cannot be made on this machine.
var errNoPython = errors.New("python3 with venv and pip is needed for backtesting.py and vectorbt: left out")

// environment returns the Python of a virtual environment that has the packages.
// It is made in the folder when it is not there yet, which downloads about 200 MB.
func environment(folder string) (python string, err error) {
	python = filepath.Join(folder, "bin", "python")
	if exec.Command(python, "-c", "import backtesting, vectorbt").Run() == nil {
		return python, nil
	}
	if exec.Command("python3", "-m", "venv", folder).Run() != nil || exec.Command(python, "-m", "pip", "--version").Run() != nil {
		return "", errNoPython
	}
	install := exec.Command(python, append([]string{"-m", "pip", "install", "--quiet"}, packages...)...)
	if out, err := install.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%s: %w: %s", strings.Join(packages, ", "), err, out)
	}
	return python, nil
}

// peers is the process that runs the contestants written in Python.
type peers struct {
	cmd     *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Reader
	scratch string // folder with the script and the bars
}

// startPeers starts the process, which reads the bars from a file.
func startPeers(python string, s *market.Series) (p *peers, err error) {
	p = &peers{}
	if p.scratch, err = os.MkdirTemp("", "wick-bench-rules-"); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			os.RemoveAll(p.scratch)
		}
	}()
	file, bars := filepath.Join(p.scratch, "peers.py"), filepath.Join(p.scratch, "bars.csv")
	if err = os.WriteFile(file, []byte(script), 0o600); err != nil {
		return nil, err
	}
	if err = os.WriteFile(bars, csv(s), 0o600); err != nil {
		return nil, err
	}
	p.cmd = exec.Command(python, file, bars)
	p.cmd.Env = append(os.Environ(), "TQDM_DISABLE=1") // no progress bars
	p.cmd.Stderr = os.Stderr
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.out = bufio.NewReader(out)
	return p, p.cmd.Start()
}

// run has a contestant trade the rule once.
func (p *peers) run(name string) (r run, err error) {
	if _, err = fmt.Fprintln(p.in, name); err != nil {
		return r, err
	}
	line, err := p.out.ReadBytes('\n')
	if err != nil {
		return r, fmt.Errorf("%s: %w", name, err)
	}
	return r, json.Unmarshal(line, &r)
}

// stop ends the process and removes its files.
func (p *peers) stop() {
	p.in.Close()
	p.cmd.Wait()
	os.RemoveAll(p.scratch)
}

// csv writes the bars with all their digits: the contestants are to see the same
// numbers.
func csv(s *market.Series) []byte {
	text := []byte("Time,Open,High,Low,Close,Volume\n")
	for i := range s.Len() {
		text = strconv.AppendInt(text, s.Time[i], 10)
		for _, v := range []float64{s.Open[i], s.High[i], s.Low[i], s.Close[i], s.Volume[i]} {
			text = append(text, ',')
			text = strconv.AppendFloat(text, v, 'g', -1, 64)
		}
		text = append(text, '\n')
	}
	return text
}
