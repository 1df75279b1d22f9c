package measure

import (
	"os"
	"os/exec"
	"time"

	"github.com/mustlink/mustlink/asm"
	"github.com/mustlink/mustlink/blas"
)

// BestCore returns the environment in which a program has the best core for this processor, nil if
// those of its OpenBLAS are, or if the environment of this program chooses one.
func BestCore(cores ...string) []string {
	if os.Getenv(blas.CoreVariable) != "" {
		return nil
	}
	for _, core := range cores {
		if better := blas.BetterCore(core, asm.Best()); better != "" {
			return []string{blas.CoreVariable + "=" + better}
		}
	}
	return nil
}

// patience is how long an interrupted program may take to end.
const patience = 10 * time.Second

// Interruptible makes the end of the command's context send an interrupt, so that the program can
// stop its work and remove its files. The program is killed on systems without interrupts, or if it
// does not end.
func Interruptible(cmd *exec.Cmd) {
	cmd.WaitDelay = patience
	cmd.Cancel = func() error {
		if err := cmd.Process.Signal(os.Interrupt); err == nil {
			return nil
		}
		return cmd.Process.Kill()
	}
}
