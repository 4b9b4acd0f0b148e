package calc

import (
	"errors"
	"fmt"
	"math"
	"math/big"
)

// constants are numbers with a name.
var constants = map[string]float64{"pi": math.Pi, "e": math.E}

// A function makes a value of between least and most others.
type function struct {
	least, most int
	do          func(args []value) (value, error)
}

func (f function) arity() string {
	switch {
	case f.least == f.most && f.most == 1:
		return "1 argument"
	case f.least == f.most:
		return fmt.Sprintf("%d arguments", f.most)
	}
	return fmt.Sprintf("%d to %d arguments", f.least, f.most)
}

const many = 100

// functions are those that an expression may call; prompts/tools/calc.md names them.
var functions = map[string]function{
	"abs":   {1, 1, func(a []value) (value, error) { return value{new(big.Rat).Abs(a[0].Rat), a[0].rounded}, nil }},
	"floor": {1, 1, func(a []value) (value, error) { return value{whole(a[0].Rat, (*big.Int).Div), a[0].rounded}, nil }},
	"ceil":  {1, 1, ceil},
	"round": {1, 2, round},
	"sqrt":  {1, 1, sqrt},
	"min":   {1, many, func(a []value) (value, error) { return extreme(a, -1), nil }},
	"max":   {1, many, func(a []value) (value, error) { return extreme(a, +1), nil }},
	"exp":   inexact(math.Exp),
	"ln":    inexact(math.Log),
	"log2":  inexact(math.Log2),
	"log10": inexact(math.Log10),
	"sin":   inexact(math.Sin),
	"cos":   inexact(math.Cos),
	"tan":   inexact(math.Tan),
}

func inexact(f func(float64) float64) function {
	return function{1, 1, func(a []value) (value, error) { return float(f(a[0].float())) }}
}

func ceil(a []value) (value, error) {
	r := whole(new(big.Rat).Neg(a[0].Rat), (*big.Int).Div)
	return value{r.Neg(r), a[0].rounded}, nil
}

// round rounds half away from zero, to as many digits after the point as the second argument says.
func round(a []value) (value, error) {
	places := 0
	if len(a) == 2 {
		n := a[1].Rat
		if !n.IsInt() || n.Sign() < 0 || n.Cmp(big.NewRat(30, 1)) > 0 {
			return value{}, errors.New("the digits after the point must be a whole number from 0 to 30")
		}
		places = int(n.Num().Int64())
	}
	r, _ := new(big.Rat).SetString(a[0].FloatString(places))
	return value{r, a[0].rounded}, nil
}

// sqrt is exact for squares of fractions.
func sqrt(a []value) (value, error) {
	if a[0].Sign() < 0 {
		return value{}, errors.New("a negative number has no root")
	}
	num, den := new(big.Int).Sqrt(a[0].Num()), new(big.Int).Sqrt(a[0].Denom())
	r := new(big.Rat).SetFrac(num, den)
	if new(big.Rat).Mul(r, r).Cmp(a[0].Rat) == 0 {
		return value{r, a[0].rounded}, nil
	}
	return float(math.Sqrt(a[0].float()))
}

func extreme(all []value, sign int) value {
	v := all[0]
	for _, w := range all[1:] {
		if w.Cmp(v.Rat) == sign {
			v.Rat = w.Rat
		}
		v.rounded = v.rounded || w.rounded
	}
	return v
}
