package server

import "os"

// checkPrivate takes every file: on Windows who may read one is not in its mode.
func checkPrivate(*os.File) error { return nil }
