package calc

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser"

	"github.com/heddle-bot/heddle/tools"
)

const (
	maxText = 1000    // bytes of an expression
	maxBits = 1 << 14 // of a numerator or denominator: 4932 decimal digits
	digits  = 15      // that a rounded result shows, all of which are right in a float64
)

// A value is a number. What went through a float64 is not exact.
type value struct {
	*big.Rat
	rounded bool
}

// Eval returns the value of an arithmetic expression as text. The text says so if it is rounded.
func Eval(expression string) (string, error) {
	source, err := prepare(expression)
	if err != nil {
		return "", err
	}
	tree, err := parser.Parse(source)
	if err != nil {
		return "", syntax(err)
	}
	v, err := calculator(source).eval(tree.Node)
	if err != nil {
		return "", err
	}
	return v.text(), nil
}

var (
	numbers = regexp.MustCompile(`[0-9][0-9_]*(\.[0-9_]*)?([eE][+-]?[0-9]+)?`)
	digital = regexp.MustCompile(`^[0-9_]{18,}$`)
	signs   = strings.NewReplacer("×", "*", "·", "*", "÷", "/", "−", "-")
)

// prepare returns the expression as the parser takes it: the parser knows whole numbers up to 64
// bits, but keeps the text of a longer one that looks like a fraction.
func prepare(expression string) (string, error) {
	source := signs.Replace(expression)
	if len(source) > maxText {
		return "", fmt.Errorf("the expression is longer than %d characters: calculate a part of it first", maxText)
	}
	for i, r := range source {
		if r > '~' || r < ' ' && r != '\n' && r != '\t' {
			return "", fmt.Errorf("there is a %q after %q: use digits, names and + - * / %% ^ ( ) only", r, source[:i])
		}
	}
	return numbers.ReplaceAllStringFunc(source, func(n string) string {
		if digital.MatchString(n) {
			return n + ".0"
		}
		return n
	}), nil
}

func syntax(err error) error {
	if e := (*file.Error)(nil); errors.As(err, &e) {
		return fmt.Errorf("this is no expression: %s at character %d", e.Message, e.Column+1)
	}
	return fmt.Errorf("this is no expression: %w", err)
}

// A calculator evaluates the tree of an expression, whose text it is.
type calculator string

func (c calculator) eval(n ast.Node) (value, error) {
	switch n := n.(type) {
	case *ast.IntegerNode:
		return exact(new(big.Rat).SetInt64(int64(n.Value))), nil
	case *ast.FloatNode:
		return c.literal(n)
	case *ast.IdentifierNode:
		if v, ok := constants[n.Value]; ok {
			return float(v)
		}
		return value{}, fmt.Errorf("%q is not known%s; there are no variables", n.Value, tools.DidYouMean(n.Value, known()))
	case *ast.UnaryNode:
		return c.unary(n)
	case *ast.BinaryNode:
		a, err := c.eval(n.Left)
		if err != nil {
			return value{}, err
		}
		b, err := c.eval(n.Right)
		if err != nil {
			return value{}, err
		}
		return binary(n.Operator, a, b)
	case *ast.BuiltinNode:
		return c.call(n.Name, n.Arguments)
	case *ast.CallNode:
		if f, ok := n.Callee.(*ast.IdentifierNode); ok {
			return c.call(f.Value, n.Arguments)
		}
	}
	return value{}, errors.New("only numbers, + - * / % ^, parentheses and these can be used: " + strings.Join(known(), ", "))
}

// literal reads a number from the text, as the tree has only a float64 of it.
func (c calculator) literal(n *ast.FloatNode) (value, error) {
	at := n.Location()
	text := strings.ReplaceAll(string(c[at.From:at.To]), "_", "")
	_, exponent, _ := strings.Cut(strings.ToLower(text), "e")
	if n, err := strconv.Atoi(exponent); err == nil && max(n, -n) > maxBits {
		return value{}, errSize // making it would take long
	}
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		return value{}, fmt.Errorf("%q is not a number", tools.Clip(text, 40))
	}
	return sized(exact(r))
}

func (c calculator) unary(n *ast.UnaryNode) (value, error) {
	v, err := c.eval(n.Node)
	switch {
	case err != nil:
		return value{}, err
	case n.Operator == "-":
		return value{new(big.Rat).Neg(v.Rat), v.rounded}, nil
	case n.Operator == "+":
		return v, nil
	}
	return value{}, unknown(n.Operator)
}

func unknown(operator string) error {
	return fmt.Errorf("there is no operator %q here: use + - * / %% ^", operator)
}

func (c calculator) call(name string, nodes []ast.Node) (value, error) {
	f, ok := functions[name]
	if !ok {
		return value{}, fmt.Errorf("there is no function %q%s; there are %s",
			tools.Clip(name, 40), tools.DidYouMean(name, known()), strings.Join(known(), ", "))
	}
	if len(nodes) < f.least || len(nodes) > f.most {
		return value{}, fmt.Errorf("%s takes %s, not %d", name, f.arity(), len(nodes))
	}
	var args []value
	for _, n := range nodes {
		v, err := c.eval(n)
		if err != nil {
			return value{}, err
		}
		args = append(args, v)
	}
	v, err := f.do(args)
	if err != nil {
		return value{}, fmt.Errorf("%s: %w", name, err)
	}
	return sized(v)
}

var errZero = errors.New("division by zero")

func binary(operator string, a, b value) (value, error) {
	r := value{new(big.Rat), a.rounded || b.rounded}
	switch operator {
	case "+":
		r.Add(a.Rat, b.Rat)
	case "-":
		r.Sub(a.Rat, b.Rat)
	case "*":
		r.Mul(a.Rat, b.Rat)
	case "/", "%":
		if b.Sign() == 0 {
			return value{}, errZero
		}
		r.Quo(a.Rat, b.Rat)
		if operator == "%" { // as in most languages, the sign is that of a
			r.Sub(a.Rat, new(big.Rat).Mul(b.Rat, whole(r.Rat, (*big.Int).Quo)))
		}
	case "^", "**":
		return power(a, b)
	default:
		return value{}, unknown(operator)
	}
	return sized(r)
}

// whole returns the integer that div makes of r's numerator and denominator.
func whole(r *big.Rat, div func(z, x, y *big.Int) *big.Int) *big.Rat {
	return new(big.Rat).SetInt(div(new(big.Int), r.Num(), r.Denom()))
}

func power(a, b value) (value, error) {
	if a.Sign() == 0 && b.Sign() < 0 {
		return value{}, errZero
	}
	if !b.IsInt() || b.rounded {
		x, y := a.float(), b.float()
		if x < 0 && !b.IsInt() {
			return value{}, errors.New("a negative number has no power that is not whole")
		}
		return float(math.Pow(x, y))
	}
	one := a.IsInt() && a.Num().IsInt64() && a.Num().Int64()*a.Num().Int64() <= 1 // 0, 1 and -1 stay small
	n := new(big.Int).Abs(b.Num())
	if bits := int64(max(a.Num().BitLen(), a.Denom().BitLen())); !one && (!n.IsInt64() || n.Int64() > 2*maxBits/bits) {
		return value{}, errSize
	}
	if one { // only whether n is even matters
		n.SetUint64(uint64(2*min(1, n.Sign())) + uint64(n.Bit(0)))
	}
	num, den := new(big.Int).Exp(a.Num(), n, nil), new(big.Int).Exp(a.Denom(), n, nil)
	if b.Sign() < 0 {
		num, den = den, num
	}
	return sized(value{new(big.Rat).SetFrac(num, den), a.rounded})
}

var errSize = errors.New("the result has more digits than this tool calculates with (about 4900)")

// sized refuses a number that has grown too long.
func sized(v value) (value, error) {
	if v.Num().BitLen() > maxBits || v.Denom().BitLen() > maxBits {
		return value{}, errSize
	}
	return v, nil
}

func exact(r *big.Rat) value { return value{Rat: r} }

func float(f float64) (value, error) {
	r := new(big.Rat).SetFloat64(f)
	switch {
	case math.IsNaN(f):
		return value{}, errors.New("there is no such number")
	case r == nil:
		return value{}, errors.New("the result is too large")
	}
	return value{r, true}, nil
}

func (v value) float() float64 {
	f, _ := v.Float64()
	return f
}

// text writes v in full if it is exact and has an end.
func (v value) text() string {
	if v.rounded {
		return fmt.Sprintf("%.*g (rounded)", digits, v.float())
	}
	if n, ends := v.FloatPrec(); ends {
		return v.FloatString(n)
	}
	f := new(big.Float).SetPrec(128).SetRat(v.Rat)
	return f.Text('g', 30) + " (rounded)"
}

// known returns the names that an expression may use.
func known() []string {
	return slices.Sorted(func(yield func(string) bool) {
		for name := range maps.Keys(constants) {
			if !yield(name) {
				return
			}
		}
		maps.Keys(functions)(yield)
	})
}
